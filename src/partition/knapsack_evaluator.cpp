#include "partition/knapsack_evaluator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace sapwood::partition {
namespace {

using Names = std::vector<std::string>;

/// Plays the backward over the candidates.
class Simulation {
 public:
  Simulation(const GraphInfo& info, const NameGraph& graph, std::unordered_set<std::string> kept, bool skip_kept)
      : info_(info), kept_(std::move(kept)), skip_kept_(skip_kept) {
    for (const auto& [from, to] : graph.edges) reads_[to].push_back(from);
    for (const std::string& name : graph.nodes) memory_ += kept_.contains(name) ? info.memory(name) : 0;
    steps_.push_back({memory_, "start"});
  }

  std::vector<MemoryStep> run(const Names& nodes) {
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) visit(*it);
    return std::move(steps_);
  }

 private:
  void move(const std::string& name, int sign, const std::string& what) {
    memory_ += sign * info_.memory(name);
    steps_.push_back({memory_, what});
  }

  void visit(const std::string& name) {
    if (kept_.contains(name) || computed_.contains(name)) return move(name, -1, "drop " + name);
    computed_.insert(name);
    move(name, 1, "recompute " + name);
    recompute_inputs(name);
    move(name, -1, "drop " + name);
  }

  void recompute_inputs(const std::string& name) {
    std::deque<std::string> queue;
    const auto enqueue = [&](const std::string& of, bool skip_kept) {
      for (const std::string& read : reads_[of]) {
        const bool waiting = std::ranges::find(queue, read) != queue.end();
        if (computed_.contains(read) || waiting || (skip_kept && kept_.contains(read))) continue;
        queue.push_back(read);
      }
    };
    enqueue(name, skip_kept_);
    while (!queue.empty()) {
      const std::string input = queue.front();
      queue.pop_front();
      computed_.insert(input);
      move(input, 1, "recompute " + input + " for " + name);
      enqueue(input, true);
    }
  }

  const GraphInfo& info_;
  std::unordered_set<std::string> kept_;
  bool skip_kept_;
  std::unordered_map<std::string, Names> reads_;
  std::unordered_set<std::string> computed_;
  double memory_ = 0;
  std::vector<MemoryStep> steps_;
};

struct Spread {
  double lowest = 0;
  double width = 0;
  double scaled(double value) const { return (value - lowest) / width; }
};

template <typename Read>
Spread spread_of(const std::vector<Evaluation>& points, const Read& read) {
  const auto [low, high] = std::ranges::minmax_element(points, {}, read);
  return {read(*low), read(*high) - read(*low)};
}

}  // namespace

Evaluation KnapsackEvaluator::evaluate(const KnapsackChoice& choice, bool with_backward) const {
  check_choice({info_.knapsack_memory(), info_.knapsack_runtime(), 0}, choice, "the choice to be evaluated");
  const auto name = [&](int32_t item) -> const std::string& { return info_.candidates()[static_cast<size_t>(item)]; };
  Evaluation result;
  for (const int32_t item : choice.dropped) result.recomputation_runtime += info_.runtime(name(item));
  for (const int32_t item : choice.saved) result.peak_memory += info_.memory(name(item));
  if (with_backward)
    for (const MemoryStep& step : simulate_backward(choice))
      result.peak_memory = std::max(result.peak_memory, step.memory);
  result.non_ac_peak_memory = info_.total_memory();
  result.theoretical_max_runtime = info_.total_runtime();
  return result;
}

std::vector<MemoryStep> KnapsackEvaluator::simulate_backward(const KnapsackChoice& choice) const {
  std::unordered_set<std::string> kept;
  for (const int32_t item : choice.saved) kept.insert(info_.candidates()[static_cast<size_t>(item)]);
  const NameGraph graph = info_.candidate_graph_with_context();
  return Simulation(info_, graph, std::move(kept), compatibility_ == Compatibility::kRepaired).run(graph.nodes);
}

std::vector<Evaluation> KnapsackEvaluator::sweep(const KnapsackSolver& solve,
                                                 const std::vector<double>& budgets) const {
  std::vector<Evaluation> points;
  for (const double budget : budgets) {
    points.push_back(evaluate(solve({info_.knapsack_memory(), info_.knapsack_runtime(), budget})));
    points.back().memory_budget = budget;
  }
  return points;
}

double KnapsackEvaluator::knee(const KnapsackSolver& solve, double highest, double lowest, int samples) const {
  const std::vector<Evaluation> points = sweep(solve, knee_budgets(highest, lowest, samples));
  const auto runtime_of = [](const Evaluation& point) { return point.runtime_fraction(); };
  const auto memory_of = [](const Evaluation& point) { return point.peak_fraction(); };
  const Spread runtime = spread_of(points, runtime_of);
  const Spread memory = spread_of(points, memory_of);
  if (!(runtime.width > 0) || !(memory.width > 0)) return highest;
  const auto distance = [&](const Evaluation& point) {
    return std::pow(std::pow(runtime.scaled(runtime_of(point)), 2) + std::pow(memory.scaled(memory_of(point)), 2), 0.5);
  };
  return std::ranges::min_element(points, {}, distance)->memory_budget;
}

std::vector<double> knee_budgets(double highest, double lowest, int samples) {
  std::vector<double> budgets;
  for (int i = 0; i < samples; ++i) budgets.push_back(lowest + i * (highest - lowest) / (samples - 1));
  return budgets;
}

}  // namespace sapwood::partition
