#include "partition/what_if.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "partition/budget.h"
#include "partition/extract.h"
#include "partition/flow_network.h"
#include "partition/min_cut.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr size_t kMostNames = 6;

std::string listed(const JointView& view, const std::vector<NodeId>& values) {
  std::string text;
  for (size_t i = 0; i < values.size() && i < kMostNames; ++i)
    text += (i ? ", '" : "'") + view.node(values[i]).name + "'";
  return values.size() > kMostNames ? text + " and " + std::to_string(values.size() - kMostNames) + " more" : text;
}

std::vector<NodeId> not_in(const std::vector<NodeId>& values, const std::vector<NodeId>& others) {
  std::vector<NodeId> left;
  for (const NodeId id : values)
    if (std::ranges::find(others, id) == others.end()) left.push_back(id);
  return left;
}

/// The options with the rules of the decision's last cut.
PartitionOptions last_rules(PartitionOptions options, const Decision& decision) {
  if (decision.solves.empty()) return options;
  const SolveRecord& last = decision.solves.back();
  options.aggressive_recomputation = false;  // is in the rules
  options.ban_recompute_used_far_apart = last.ban_used_far_apart;
  options.ban_recompute_long_fusible_chains = last.ban_long_fusible_chains;
  options.ban_recompute_materialized_backward = last.ban_materialized_backward;
  options.ban_recompute_not_in_allowlist = last.ban_not_in_allowlist;
  options.ban_recompute_reductions = last.ban_reductions;
  return options;
}

/// Of memory that isn't an input's, each piece once.
int64_t bytes_of(const JointView& view, const std::vector<NodeId>& values) {
  const std::vector<int32_t> inputs = view.input_storages();
  std::set<int32_t> counted(inputs.begin(), inputs.end());
  int64_t sum = 0;
  for (const NodeId id : values) {
    if (view.is_input(id) || view.is_symbol(id)) continue;
    const int32_t memory = view.storage(id);
    if (memory < 0 || counted.insert(memory).second) sum += view.bytes(id);
  }
  return sum;
}

}  // namespace

WhatIf without_saving(const graph::Graph& joint, const Plan& plan, const PartitionOptions& options,
                      const Decision& decision, NodeId id) {
  JointView view = view_joint(joint, true);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  WhatIf result;
  result.node = id;
  const std::vector<NodeId> now = saved_sets(plan).tensors;
  result.saved_bytes_now = bytes_of(view, now);
  if (!view.is_call(id) || classes.in_closure(id)) {
    result.text = "it is no value that the forward computes";
    return result;
  }
  Released released(view.role.size(), 0);
  if (!decision.solves.empty())
    for (const NodeId other : decision.solves.back().released) released[static_cast<size_t>(other)] = 1;
  released[static_cast<size_t>(id)] = 1;
  MinCutSolution solution = solve_min_cut(view, classes, last_rules(options, decision), released);
  solution.weights[static_cast<size_t>(id)] = {0, true, "not to be saved"};
  try {
    const FlowNetwork::Cut cut = FlowNetwork(view, classes, solution.bans, solution.weights).solve();
    const SavedSets sets = settle(view, split_by_kind(view, cut.saved));
    result.possible = true;
    result.saved_bytes_without = bytes_of(view, sets.tensors);
    const std::vector<NodeId> added = not_in(sets.tensors, now);
    const std::vector<NodeId> gone = not_in(now, sets.tensors);
    result.text = std::to_string(result.saved_bytes_without) + " bytes would be saved instead of " +
                  std::to_string(result.saved_bytes_now);
    if (!added.empty()) result.text += "; saved in its place: " + listed(view, added);
    if (gone.size() > 1) result.text += "; no longer saved: " + listed(view, gone);
  } catch (const Error& error) {
    result.text = "impossible: " + error.message();
  }
  return result;
}

}  // namespace sapwood::partition
