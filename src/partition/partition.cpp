#include "partition/partition.h"

#include <algorithm>

#include "partition/default_partition.h"
#include "partition/explain.h"
#include "partition/min_cut.h"
#include "partition/selection.h"
#include "partition/tag_rules.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;

bool lives_in_step(const JointView& view, NodeId id) {
  return view.is_input(id) || view.role_of(id) == Role::kAttribute;
}

Plan describe(const Explanation& explain, const SavedSets& sets, Method method) {
  Plan plan;
  plan.method = method;
  for (const NodeId id : sets.tensors)
    plan.saved.push_back({id, explain.view.bytes(id), explain.why_saved(id), lives_in_step(explain.view, id)});
  for (const NodeId id : sets.symbols)
    plan.saved_symbols.push_back({id, 0, explain.why_saved(id), lives_in_step(explain.view, id)});
  return plan;
}

/// Recomputed is what both parts compute.
void add_recomputed(const Explanation& explain, const SavedSets& sets, Plan& plan) {
  const JointView& view = explain.view;
  std::vector<NodeId> inputs = sets.symbols;
  inputs.insert(inputs.end(), sets.tensors.begin(), sets.tensors.end());
  for (const NodeId id : backward_only_inputs(view)) inputs.push_back(id);
  for (const NodeId id : view.order)
    if (view.role_of(id) == Role::kPrimal && view.is_opaque(id)) inputs.push_back(id);
  const Selection backward = select_nodes(view, inputs, view.backward_outputs, Side::kBackward);
  for (const NodeId id : backward.nodes) {
    if (!view.is_call(id) || !explain.classes.is_forward(id)) continue;
    const bool shares_memory = view.info(id).is_view;
    plan.recomputed.push_back({id, shares_memory ? 0 : view.bytes(id), explain.why_recomputed(id)});
  }
}

Plan default_plan(const Graph& joint) {
  JointView view = view_joint(joint, false);
  apply_tag_rules(view, true);
  const Classification classes = classify(view);
  const SavedSets sets = settle(view, choose_default(view));
  const Explanation explain{view, classes, nullptr};
  Plan plan = describe(explain, sets, Method::kDefault);
  add_recomputed(explain, sets, plan);
  return plan;
}

Plan min_cut_plan(Graph& joint, const PartitionOptions& options) {
  passes::remove_dead_nodes(joint);
  if (options.cse) passes::merge_common_subexpressions(joint);
  JointView view = view_joint(joint, options.cse);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  if (!classes.has_backward) return default_plan(joint);
  if (options.recompute_only_free) {
    const SavedSets sets = settle(view, split_by_kind(view, choose_all_but_free(view, classes)));
    const Explanation explain{view, classes, nullptr};
    Plan plan = describe(explain, sets, Method::kMinCut);
    add_recomputed(explain, sets, plan);
    return plan;
  }
  const MinCutSolution solution = solve_min_cut(view, classes, options);
  const SavedSets sets = settle(view, split_by_kind(view, solution.saved));
  const Explanation explain{view, classes, &solution.bans};
  Plan plan = describe(explain, sets, Method::kMinCut);
  plan.cut_value = solution.value;
  add_recomputed(explain, sets, plan);
  return plan;
}

}  // namespace

Plan partition(Graph& joint, const PartitionOptions& options) {
  if (options.method == Method::kMinCut) return min_cut_plan(joint, options);
  const JointView view = view_joint(joint, false);
  // A graph that writes in the middle can't be checkpointed by the default rule: what is read again may have changed.
  const bool unsafe = has_recompute_marks(view) && !is_functional(view);
  return unsafe ? min_cut_plan(joint, options) : default_plan(joint);
}

}  // namespace sapwood::partition
