#pragma once

#include <optional>
#include <set>
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

/// Decides under budgets from 0 to 1. With 1 that is the fastest cut. With less, cuts with fewer bans are tried first;
/// if they save too much as well, the values that are dear to recompute are weighed against each other (the knapsack),
/// and those that lose may be recomputed in the last cut. Asked for several budgets it solves what they share once.
/// Refers to what it is made from.
class BudgetChooser {
 public:
  BudgetChooser(const JointView& view, const Classification& classes, const PartitionOptions& options);

  /// With `activation_memory_bytes` the bytes are the budget, and `budget` is ignored. Errors: unsupported error if a
  /// cut is infinite; user error for a custom solver that answers with wrong indices.
  Decision choose(double budget);

 private:
  struct CachedCut {
    PartitionOptions rules;
    std::optional<MinCutSolution> solution;
  };

  bool repaired() const { return options_.compatibility == Compatibility::kRepaired; }
  /// Bytes that count against the budget: of everything, or, where the budget is in bytes, of memory that isn't an
  /// input's, each piece once.
  int64_t bytes(const std::vector<graph::NodeId>& values) const;
  double range(const Decision& decision) const;
  double ratio(const std::vector<graph::NodeId>& values, const Decision& decision) const;
  void adopt(const MinCutSolution& cut, const PartitionOptions& rules, const Released& released,
             Decision& decision) const;
  void solve(CachedCut& cut, Decision& decision);
  void save_inputs(Decision& decision) const;
  std::set<int32_t> storages_of_inputs() const;
  bool may_be_recomputed(graph::NodeId id, const std::set<int32_t>& storages) const;
  void find_candidates(const Decision& decision);
  void weigh_candidates(Decision& decision);
  void keep_inputs_and_marks(Decision& decision) const;
  void cut_without_losers(Decision& decision) const;
  void stay_within(Decision& decision) const;

  const JointView& view_;
  const Classification& classes_;
  const PartitionOptions& options_;
  bool in_bytes_;
  std::vector<int32_t> input_memory_;
  CachedCut fastest_;
  CachedCut more_aggressive_;
  CachedCut aggressive_;
  bool candidates_found_ = false;
  KnapsackRecord candidates_;
};

/// The decision under the options' budget. With `activation_memory_peak_bytes` it is, of the decisions for the budgets
/// 0, 0.05, ... 1, the one that repeats least among those whose simulated peak keeps the limit, or else the one with
/// the lowest peak. So a smaller limit never gives a higher peak. Errors: as BudgetChooser.
Decision choose_saved_values(const JointView& view, const Classification& classes, const PartitionOptions& options);

/// The budget that holds for a graph: the option, or what its nodes are annotated with.
/// Errors: user error if annotations disagree, cover only a part of the forward, or are out of range.
double resolve_budget(const JointView& view, const Classification& classes, const PartitionOptions& options);

}  // namespace sapwood::partition
