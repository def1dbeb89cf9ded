#include "partition/partition.h"

#include <algorithm>

#include "partition/budget.h"
#include "partition/default_partition.h"
#include "partition/explain.h"
#include "partition/extract.h"
#include "partition/prices.h"
#include "partition/saved_values.h"
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

std::vector<SavedValue> describe(const Explanation& explain, const std::vector<NodeId>& values) {
  std::vector<SavedValue> described;
  for (const NodeId id : values) {
    const int64_t bytes = explain.view.is_symbol(id) ? 0 : explain.view.bytes(id);
    described.push_back({id, bytes, explain.why_saved(id), lives_in_step(explain.view, id)});
  }
  return described;
}

/// Recomputed is what both parts compute.
std::vector<RecomputedValue> recomputed_values(const Explanation& explain, const Parts& parts) {
  const JointView& view = explain.view;
  std::vector<RecomputedValue> values;
  for (const NodeId id : parts.backward.nodes) {
    if (!view.is_call(id) || !parts.forward.keeps(id)) continue;
    const bool shares_memory = view.info(id).is_view;
    values.push_back({id, shares_memory ? 0 : view.bytes(id), explain.why_recomputed(id)});
  }
  std::ranges::sort(values, {}, [&](const RecomputedValue& value) { return view.position[static_cast<size_t>(value.node)]; });
  return values;
}

Plan make_plan(const Explanation& explain, const SavedSets& chosen, const PartitionOptions& options, Method method) {
  const SavedSets sets = settle(explain.view, chosen);
  Plan plan;
  plan.method = method;
  plan.saved = describe(explain, sets.tensors);
  plan.saved_objects = describe(explain, sets.objects);
  plan.saved_symbols = describe(explain, sets.symbols);
  plan.recomputed = recomputed_values(explain, select_parts(explain.view, sets, method));
  price_saved_values(explain.view, options, plan);
  return plan;
}

Plan default_plan(const Graph& joint, const PartitionOptions& options) {
  JointView view = view_joint(joint, false);
  apply_tag_rules(view, true);
  const Classification classes = classify(view);
  return make_plan({view, classes, nullptr}, choose_default(view), options, Method::kDefault);
}

Plan min_cut_plan(Graph& joint, const PartitionOptions& options, Decision& decision) {
  prepare_joint(joint, options);
  JointView view = view_joint(joint, options.cse);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  if (!classes.has_backward) return default_plan(joint, options);
  if (options.recompute_only_free)
    return make_plan({view, classes, nullptr}, split_by_kind(view, choose_all_but_free(view, classes)), options,
                     Method::kMinCut);
  PartitionOptions resolved = options;
  resolved.activation_memory_budget = resolve_budget(view, classes, options);
  decision = choose_saved_values(view, classes, resolved);
  const Bans* bans = decision.cut ? &decision.cut->bans : nullptr;
  Plan plan = make_plan({view, classes, bans}, split_by_kind(view, decision.saved), options, Method::kMinCut);
  plan.budget = decision.budget;
  plan.cut_value = decision.cut ? decision.cut->value : 0;
  return plan;
}

/// A graph that writes in the middle can't be checkpointed by the default rule: what is read again may have changed.
bool is_unsafe_for_default(const Graph& joint) {
  return has_recompute_marks(joint) && !is_functional(view_joint(joint, false));
}

}  // namespace

void prepare_joint(Graph& joint, const PartitionOptions& options) {
  if (options.method != Method::kMinCut && !is_unsafe_for_default(joint)) return;
  passes::remove_dead_nodes(joint);
  if (!options.cse) return;
  if (options.compatibility == Compatibility::kTorch213) {
    passes::merge_common_subexpressions_as_torch(joint);
  } else {
    passes::merge_common_subexpressions(joint);
  }
}

Plan partition(Graph& joint, const PartitionOptions& options, Decision* decision) {
  check_options(options);
  Decision unasked;
  const bool cut = options.method == Method::kMinCut || is_unsafe_for_default(joint);
  Plan plan = cut ? min_cut_plan(joint, options, decision ? *decision : unasked) : default_plan(joint, options);
  plan.graphsafe_rng = options.graphsafe_rng_functionalization;
  return plan;
}

}  // namespace sapwood::partition
