#include "partition/knapsack_solvers.h"

#include <algorithm>

#include "partition/knapsack_evaluator.h"

namespace sapwood::partition {
namespace {

/// The dynamic program at the knee of the curve between a budget of nearly nothing and the user's.
KnapsackChoice solve_at_knee(const KnapsackTask& task, bool repaired) {
  const GraphInfo info = GraphInfo::from_joint(task.view, task.candidates, task.problem.memory, task.problem.runtime);
  const KnapsackEvaluator evaluator(info, task.options.compatibility);
  KnapsackProblem problem = task.problem;
  if (repaired) {
    problem.max_memory = evaluator.knee(exact_knapsack, problem.max_memory);
    return exact_knapsack(problem);
  }
  // One table answers for all limits; the evaluator asks for them in order.
  const std::vector<double> limits = knee_budgets(problem.max_memory);
  KnapsackProblem widest = problem;
  widest.max_memory = std::max(problem.max_memory, limits.front());
  const std::vector<KnapsackChoice> choices = torch_dp_knapsacks(widest, limits);
  size_t next = 0;
  problem.max_memory = evaluator.knee([&](const KnapsackProblem&) { return choices[next++]; }, problem.max_memory);
  return torch_dp_knapsack(problem);
}

}  // namespace

KnapsackChoice solve_knapsack(const KnapsackTask& task) {
  const bool repaired = task.options.compatibility == Compatibility::kRepaired;
  switch (task.options.activation_memory_budget_solver) {
    case Solver::kGreedy:
      return greedy_knapsack(task.problem);
    case Solver::kIlp:
      return ilp_knapsack(task.problem);
    case Solver::kDp:
      return repaired ? exact_knapsack(task.problem) : torch_dp_knapsack(task.problem);
    case Solver::kHirschberg:
      return repaired ? exact_knapsack(task.problem) : torch_hirschberg_knapsack(task.problem);
    case Solver::kDynamicDp:
      return solve_at_knee(task, repaired);
    case Solver::kCustom:
      break;
  }
  KnapsackChoice choice = task.options.custom_solver(task.problem, *task.view.graph, task.candidates);
  check_choice(task.problem, choice, "the custom solver");
  return choice;
}

}  // namespace sapwood::partition
