#include "partition/min_cut.h"

#include "partition/flow_network.h"

namespace sapwood::partition {
namespace {

PartitionOptions effective(PartitionOptions options) {
  if (!options.aggressive_recomputation) return options;
  options.ban_recompute_used_far_apart = false;
  options.ban_recompute_long_fusible_chains = false;
  options.ban_recompute_materialized_backward = false;
  options.ban_recompute_not_in_allowlist = false;
  return options;
}

}  // namespace

MinCutSolution solve_min_cut(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  const PartitionOptions rules = effective(options);
  MinCutSolution solution;
  solution.bans = ban_recomputation(view, classes, rules);
  solution.weights = weigh(view, classes, rules);
  FlowNetwork network(view, classes, solution.bans, solution.weights);
  FlowNetwork::Cut cut = network.solve();
  solution.value = cut.value;
  solution.saved = std::move(cut.saved);
  return solution;
}

}  // namespace sapwood::partition
