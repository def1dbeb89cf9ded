#pragma once

#include <optional>
#include <vector>

#include "partition/knapsack.h"
#include "partition/min_cut.h"

namespace sapwood::partition {

/// One minimum cut on the way to a decision.
struct SolveRecord {
  bool ban_used_far_apart = true;
  bool ban_long_fusible_chains = true;
  bool ban_materialized_backward = true;
  bool ban_not_in_allowlist = true;
  bool ban_reductions = true;
  std::vector<graph::NodeId> released;  ///< in graph order
  int64_t cut_value = 0;
  std::vector<graph::NodeId> saved;
  std::vector<graph::NodeId> banned;
};

/// What the knapsack was asked and what it answered.
struct KnapsackRecord {
  std::vector<graph::NodeId> candidates;  ///< largest first
  std::vector<int64_t> bytes;             ///< of each candidate
  KnapsackProblem problem;                ///< memory as a fraction of what can be given up
  KnapsackChoice choice;
};

/// What the forward hands over, and how that was found.
struct Decision {
  std::vector<graph::NodeId> saved;   ///< tensors, symbols and objects together
  std::optional<MinCutSolution> cut;  ///< the last one; none if no cut was needed
  std::vector<SolveRecord> solves;
  std::optional<KnapsackRecord> knapsack;
  double budget = 1;                 ///< the fraction that was used
  int64_t input_bytes = 0;           ///< of all inputs: what the budget 0 saves
  int64_t fastest_bytes = 0;         ///< of what the fastest cut saves
  double more_aggressive_ratio = 0;  ///< between the two, where a cut without the heuristic bans lies
  double aggressive_ratio = 0;       ///< the same without the list of cheap operators as well
};

/// Decides under a budget from 0 to 1. With 1 that is the fastest cut. With less, cuts with fewer bans are tried first;
/// if they save too much as well, the values that are dear to recompute are weighed against each other (the knapsack),
/// and those that lose may be recomputed in the last cut.
///
/// Errors: unsupported error if a cut is infinite; user error for a custom solver that answers with wrong indices.
Decision choose_saved_values(const JointView& view, const Classification& classes, const PartitionOptions& options);

/// The budget that holds for a graph: the option, or what its nodes are annotated with.
/// Errors: user error if annotations disagree, cover only a part of the forward, or are out of range.
double resolve_budget(const JointView& view, const Classification& classes, const PartitionOptions& options);

}  // namespace sapwood::partition
