#include <algorithm>

#include "partition/default_partition.h"
#include "partition/explain.h"
#include "partition/min_cut.h"
#include "partition/partition.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;

/// What the backward and the optimizer read from the forward.
std::vector<NodeId> read_by_backward(const JointView& view, const Classification& classes) {
  std::vector<uint8_t> read(view.role.size(), 0);
  for (const NodeId id : view.order)
    if (classes.in_closure(id))
      for (const NodeId input : view.inputs_of(id)) read[static_cast<size_t>(input)] = 1;
  for (const NodeId id : view.backward_outputs)
    if (id != kNoNode) read[static_cast<size_t>(id)] = 1;
  std::vector<NodeId> values;
  for (const NodeId id : view.order)
    if (read[static_cast<size_t>(id)] && !classes.in_closure(id)) values.push_back(id);
  return values;
}

void add_saved(const Explanation& explain, const std::vector<NodeId>& chosen, Plan& plan) {
  const JointView& view = explain.view;
  for (const NodeId id : chosen) {
    if (view.role_of(id) == Role::kAttribute) continue;
    if (view.is_symbol(id))
      plan.saved_symbols.push_back({id, 0, explain.why_saved(id), view.is_input(id)});
    else
      plan.saved.push_back({id, view.bytes(id), explain.why_saved(id), view.is_input(id)});
  }
}

/// Everything on the way from the saved values to what the backward reads.
void add_recomputed(const Explanation& explain, const std::vector<NodeId>& chosen, Plan& plan) {
  const JointView& view = explain.view;
  std::vector<uint8_t> done(view.role.size(), 0);
  for (const NodeId id : chosen) done[static_cast<size_t>(id)] = 1;
  std::vector<NodeId> pending = read_by_backward(view, explain.classes);
  std::vector<NodeId> found;
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (done[static_cast<size_t>(id)] || !view.is_call(id)) continue;
    done[static_cast<size_t>(id)] = 1;
    found.push_back(id);
    pending.insert(pending.end(), view.inputs_of(id).begin(), view.inputs_of(id).end());
  }
  std::ranges::sort(found, {}, [&](NodeId id) { return view.position[static_cast<size_t>(id)]; });
  for (const NodeId id : found)
    plan.recomputed.push_back({id, view.info(id).is_view ? 0 : view.bytes(id), explain.why_recomputed(id)});
}

}  // namespace

Plan partition_step(const graph::JointGraph& step, const PartitionOptions& options) {
  JointView view = view_step(step);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  Plan plan;
  plan.method = options.method;
  Explanation explain{view, classes, nullptr};
  std::vector<NodeId> chosen;
  MinCutSolution solution;
  if (options.recompute_only_free) {
    chosen = choose_all_but_free(view, classes);
  } else if (options.method == Method::kDefault || !classes.has_backward) {
    chosen = read_by_backward(view, classes);
  } else {
    solution = solve_min_cut(view, classes, options);
    chosen = solution.saved;
    explain.bans = &solution.bans;
    plan.cut_value = solution.value;
  }
  add_saved(explain, chosen, plan);
  add_recomputed(explain, chosen, plan);
  return plan;
}

}  // namespace sapwood::partition
