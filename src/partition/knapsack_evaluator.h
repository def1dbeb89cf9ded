#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition/graph_info.h"
#include "partition/knapsack.h"
#include "partition/options.h"

namespace sapwood::partition {

/// What a choice costs, in the units of the GraphInfo.
struct Evaluation {
  double memory_budget = 0;  ///< the limit that the choice was made for, where there was one
  double peak_memory = 0;
  double recomputation_runtime = 0;
  double non_ac_peak_memory = 0;       ///< if everything were kept
  double theoretical_max_runtime = 0;  ///< if everything were recomputed
  double peak_fraction() const { return peak_memory / non_ac_peak_memory; }
  double runtime_fraction() const { return recomputation_runtime / theoretical_max_runtime; }
};

/// One moment of a simulated backward.
struct MemoryStep {
  double memory = 0;
  std::string what;  ///< "recompute node5", "recompute node2 for node5", "drop node5"
};

using KnapsackSolver = std::function<KnapsackChoice(const KnapsackProblem&)>;

/// Weighs choices of a knapsack: memory, runtime, and the budget from which more memory stops paying.
class KnapsackEvaluator {
 public:
  /// `compatibility`: PyTorch counts a kept value that a recomputed one reads directly a second time.
  explicit KnapsackEvaluator(const GraphInfo& info, Compatibility compatibility = Compatibility::kRepaired)
      : info_(info), compatibility_(compatibility) {}

  /// `with_backward`: the peak includes what the backward recomputes, else it is the sum of what is kept.
  /// Errors: user error if the choice doesn't put every candidate into exactly one list.
  Evaluation evaluate(const KnapsackChoice& choice, bool with_backward = false) const;

  /// The backward in reverse order of the candidates: what is alive after each move.
  std::vector<MemoryStep> simulate_backward(const KnapsackChoice& choice) const;

  /// One evaluation per budget.
  std::vector<Evaluation> sweep(const KnapsackSolver& solve, const std::vector<double>& budgets) const;

  /// The budget whose point is nearest to the origin when memory and runtime of `samples` evenly spaced budgets from
  /// `lowest` to `highest` are scaled to 0..1; `highest` if either doesn't change.
  double knee(const KnapsackSolver& solve, double highest, double lowest = 0.001, int samples = 100) const;

 private:
  const GraphInfo& info_;
  Compatibility compatibility_;
};

/// The evenly spaced budgets of `knee`.
std::vector<double> knee_budgets(double highest, double lowest = 0.001, int samples = 100);

}  // namespace sapwood::partition
