#pragma once

#include "partition/joint_view.h"
#include "partition/options.h"

namespace sapwood::partition {

/// A knapsack of a joint graph.
struct KnapsackTask {
  const JointView& view;
  const PartitionOptions& options;
  const std::vector<graph::NodeId>& candidates;
  const KnapsackProblem& problem;
};

/// Solves it as the options say. With Compatibility::kTorch213 the answers are PyTorch's; otherwise every solver but
/// `greedy` answers with the best choice within the limit, and `dynamic_memory_budget_dp` with the best one at the
/// knee. Errors: user error for a custom solver that answers with wrong indices.
KnapsackChoice solve_knapsack(const KnapsackTask& task);

}  // namespace sapwood::partition
