#include "partition/min_cut.h"

#include "partition/flow_network.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {

MinCutSolution solve_min_cut(const JointView& view, const Classification& classes, const PartitionOptions& options,
                             const Released& released, bool inputs_free) {
  MinCutSolution solution;
  solution.bans = ban_recomputation(view, classes, options, released);
  solution.weights = weigh(view, classes, options);
  if (inputs_free)
    for (const graph::NodeId id : classes.inputs) solution.weights[static_cast<size_t>(id)] = {};
  FlowNetwork network(view, classes, solution.bans, solution.weights);
  FlowNetwork::Cut cut = network.solve();
  solution.value = cut.value;
  solution.saved = std::move(cut.saved);
  return solution;
}

std::optional<Conflict> find_conflict(const graph::Graph& joint, const PartitionOptions& options) {
  JointView view = view_joint(joint, options.cse);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  const Bans bans = ban_recomputation(view, classes, options);
  const std::vector<Weight> weights = weigh(view, classes, options);
  return FlowNetwork(view, classes, bans, weights).conflict();
}

}  // namespace sapwood::partition
