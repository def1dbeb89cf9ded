#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::partition {

/// Which of some values to keep so that the least time is spent on recomputing the others. Both lists have one entry
/// per value. Memory and `max_memory` are in one unit, whichever it is; runtimes in another.
struct KnapsackProblem {
  std::vector<double> memory;
  std::vector<double> runtime;
  double max_memory = 0;

  size_t size() const { return memory.size(); }
};

/// Indices of the values, each in exactly one of the two lists.
struct KnapsackChoice {
  double runtime = 0;            ///< sum over what is kept
  std::vector<int32_t> saved;    ///< ascending, unless a solver says otherwise
  std::vector<int32_t> dropped;  ///< to be recomputed
  double gap = 0;                ///< at most this much more runtime could be kept; 0: proven best
};

/// A user's solver. It also gets the joint graph and the nodes that the entries of the problem stand for.
using CustomSolver = std::function<KnapsackChoice(const KnapsackProblem& problem, const graph::Graph& joint,
                                                  const std::vector<graph::NodeId>& candidates)>;

/// Keeps the most runtime per memory first, while it fits. Weightless values are always kept. O(n log n).
KnapsackChoice greedy_knapsack(const KnapsackProblem& problem);

/// The best choice, never over the limit: dynamic programming over the sums that no other sum beats in both memory and
/// runtime, with sums dropped that can't reach the best choice any more (Nemhauser and Ullmann 1969; bounds of Martello
/// and Toth 1990). Of equally good choices that use equal memory the one with lower indices is taken. Where more than
/// `kMaxKnapsackSums` sums stay open, sums of nearly equal memory are merged, and `gap` bounds what that may cost.
KnapsackChoice exact_knapsack(const KnapsackProblem& problem);
inline constexpr size_t kMaxKnapsackSums = size_t{1} << 16;

/// The best choice as an integer program, solved by CBC. CBC is loaded when it is first asked for.
/// Errors: unsupported error if the library isn't installed or doesn't finish.
KnapsackChoice ilp_knapsack(const KnapsackProblem& problem);

/// PyTorch 2.13's `dp_knapsack`: memory in steps of 1/10000, runtimes added up in float32. Values of less than half a
/// step count nothing, and runtimes that vanish in the sum are dropped, so that the choice may exceed the limit and
/// needn't be the best. `dropped` is in descending order. O(n * max_memory * 10000) time, and a byte of
/// memory for each.
KnapsackChoice torch_dp_knapsack(const KnapsackProblem& problem);

/// The same for several limits (each at most `problem.max_memory`) in one pass over the table.
std::vector<KnapsackChoice> torch_dp_knapsacks(const KnapsackProblem& problem, const std::vector<double>& limits);

/// PyTorch 2.13's `dp_knapsack_sliding_hirschberg`. Its right halves get one step too much, so that the choice may
/// exceed the limit. `dropped` is in descending order.
KnapsackChoice torch_hirschberg_knapsack(const KnapsackProblem& problem);

/// Errors: user error naming `who` if an index is out of range, missing or in both lists.
void check_choice(const KnapsackProblem& problem, const KnapsackChoice& choice, const std::string& who);

}  // namespace sapwood::partition
