#include "partition/budget.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "partition/knapsack_solvers.h"
#include "partition/runtime_estimate.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr double kGiga = 1e9;
/// Fractions of bytes are compared with this much slack.
constexpr double kRounding = 1e-9;
/// How often the limit is halved where a plan saves too much.
constexpr int kAttempts = 8;

PartitionOptions without_heuristics(PartitionOptions rules) {
  rules.ban_recompute_used_far_apart = false;
  rules.ban_recompute_long_fusible_chains = false;
  rules.ban_recompute_materialized_backward = false;
  return rules;
}

PartitionOptions without_list(PartitionOptions rules) {
  rules.ban_recompute_not_in_allowlist = false;
  return rules;
}

}  // namespace

BudgetChooser::BudgetChooser(const JointView& view, const Classification& classes, const PartitionOptions& options)
    : view_(view),
      classes_(classes),
      options_(options),
      in_bytes_(options.activation_memory_bytes.has_value()),
      input_memory_(view.input_storages()) {
  fastest_.rules = options.aggressive_recomputation ? without_list(without_heuristics(options)) : options;
  more_aggressive_.rules = without_heuristics(fastest_.rules);
  aggressive_.rules = without_list(more_aggressive_.rules);
}

int64_t BudgetChooser::bytes(const std::vector<NodeId>& values) const {
  int64_t sum = 0;
  std::unordered_set<int32_t> counted;
  for (const NodeId id : values) {
    const int32_t storage = view_.storage(id);
    if (in_bytes_ && (view_.is_input(id) || std::ranges::binary_search(input_memory_, storage))) continue;
    if (in_bytes_ && (view_.is_symbol(id) || (storage >= 0 && !counted.insert(storage).second))) continue;
    sum += view_.bytes(id);
  }
  return sum;
}

double BudgetChooser::range(const Decision& decision) const {
  return static_cast<double>(decision.fastest_bytes) / kGiga - static_cast<double>(decision.input_bytes) / kGiga;
}

double BudgetChooser::ratio(const std::vector<NodeId>& values, const Decision& decision) const {
  return (static_cast<double>(bytes(values)) / kGiga - static_cast<double>(decision.input_bytes) / kGiga) /
         range(decision);
}

void BudgetChooser::adopt(const MinCutSolution& cut, const PartitionOptions& rules, const Released& released,
                          Decision& decision) const {
  SolveRecord record;
  record.ban_used_far_apart = rules.ban_recompute_used_far_apart;
  record.ban_long_fusible_chains = rules.ban_recompute_long_fusible_chains;
  record.ban_materialized_backward = rules.ban_recompute_materialized_backward;
  record.ban_not_in_allowlist = rules.ban_recompute_not_in_allowlist;
  record.ban_reductions = rules.ban_recompute_reductions;
  for (const NodeId id : view_.order)
    if (!released.empty() && released[static_cast<size_t>(id)]) record.released.push_back(id);
  record.cut_value = cut.value;
  record.saved = cut.saved;
  record.banned = cut.bans.order;
  decision.solves.push_back(std::move(record));
  decision.saved = cut.saved;
  decision.cut = cut;
}

void BudgetChooser::solve(CachedCut& cut, Decision& decision) {
  if (!cut.solution) cut.solution = solve_min_cut(view_, classes_, cut.rules);
  adopt(*cut.solution, cut.rules, {}, decision);
}

/// PyTorch saves the inputs and nothing else, whatever must be saved. Right is: what can be had from the inputs.
void BudgetChooser::save_inputs(Decision& decision) const {
  if (!repaired()) {
    decision.saved = classes_.inputs;
    return;
  }
  PartitionOptions none = aggressive_.rules;
  none.ban_recompute_reductions = false;
  const Released all(view_.role.size(), 1);
  adopt(solve_min_cut(view_, classes_, none, all, /*inputs_free=*/true), none, all, decision);
}

Decision BudgetChooser::choose(double budget) {
  Decision decision;
  decision.budget = budget;
  if (budget == 0 && !in_bytes_) {
    save_inputs(decision);
    return decision;
  }
  solve(fastest_, decision);
  if (budget == 1 && !in_bytes_) return decision;
  decision.input_bytes = bytes(classes_.inputs);
  decision.fastest_bytes = bytes(decision.saved);
  if (decision.fastest_bytes <= decision.input_bytes) return decision;
  if (in_bytes_) {
    decision.budget = std::min(
        1.0, static_cast<double>(*options_.activation_memory_bytes) / static_cast<double>(decision.fastest_bytes));
    if (decision.budget == 1) return decision;
  }
  const auto fits = [&](double at) { return repaired() ? at <= decision.budget + kRounding : at < decision.budget; };
  solve(more_aggressive_, decision);
  decision.more_aggressive_ratio = ratio(decision.saved, decision);
  if (fits(decision.more_aggressive_ratio)) return decision;
  solve(aggressive_, decision);
  decision.aggressive_ratio = ratio(decision.saved, decision);
  if (!fits(decision.aggressive_ratio)) weigh_candidates(decision);
  return decision;
}

bool BudgetChooser::may_be_recomputed(NodeId id, const std::set<int32_t>& storages) const {
  if (classes_.distance(id) >= kFarFromBackward || view_.must_save(id)) return false;
  if (repaired() && (must_run_once(view_, id) || view_.is_input(id) || view_.is_symbol(id))) return false;
  return !storages.contains(view_.storage(id)) || (options_.is_non_builtin_to_include && is_non_builtin(view_, id));
}

std::set<int32_t> BudgetChooser::storages_of_inputs() const {
  std::set<int32_t> storages;
  for (const NodeId id : classes_.inputs) storages.insert(view_.storage(id));
  if (repaired()) storages.erase(-1);  // to PyTorch all values without memory lie in one place
  return storages;
}

void BudgetChooser::find_candidates(const Decision& decision) {
  if (candidates_found_) return;
  candidates_found_ = true;
  const std::set<int32_t> storages = storages_of_inputs();
  for (const NodeId id : decision.cut->bans.order)
    if (may_be_recomputed(id, storages)) candidates_.candidates.push_back(id);
  std::ranges::stable_sort(candidates_.candidates, [&](NodeId a, NodeId b) { return view_.bytes(a) > view_.bytes(b); });
  for (const NodeId id : candidates_.candidates) {
    candidates_.bytes.push_back(view_.bytes(id));
    candidates_.problem.memory.push_back(static_cast<double>(view_.bytes(id)) / kGiga / range(decision));
    candidates_.problem.runtime.push_back(estimate_runtime(view_, id, options_));
  }
}

void BudgetChooser::weigh_candidates(Decision& decision) {
  find_candidates(decision);
  if (candidates_.candidates.empty()) {
    if (!repaired()) keep_inputs_and_marks(decision);
    return;
  }
  decision.knapsack = candidates_;
  decision.knapsack->problem.max_memory = std::max(decision.budget, 0.0);
  cut_without_losers(decision);
  // A user's solver has the last word.
  if (repaired() && options_.activation_memory_budget_solver != Solver::kCustom) stay_within(decision);
}

void BudgetChooser::keep_inputs_and_marks(Decision& decision) const {
  decision.saved = classes_.inputs;
  const std::set<int32_t> storages = storages_of_inputs();
  for (const NodeId id : decision.cut->bans.order) {
    const bool counts = classes_.distance(id) < kFarFromBackward && !storages.contains(view_.storage(id));
    if (counts && view_.must_save(id)) decision.saved.push_back(id);
  }
}

void BudgetChooser::cut_without_losers(Decision& decision) const {
  KnapsackRecord& record = *decision.knapsack;
  record.choice = solve_knapsack({view_, options_, record.candidates, record.problem});
  Released released(view_.role.size(), 0);
  for (const int32_t item : record.choice.dropped)
    released[static_cast<size_t>(record.candidates[static_cast<size_t>(item)])] = 1;
  adopt(solve_min_cut(view_, classes_, aggressive_.rules, released), aggressive_.rules, released, decision);
}

/// The knapsack weighs candidates alone. Where what else gets saved breaks the budget, the largest limit is looked for
/// that keeps it.
void BudgetChooser::stay_within(Decision& decision) const {
  const auto keeps = [&](const Decision& one) { return ratio(one.saved, one) <= one.budget + kRounding; };
  if (keeps(decision)) return;
  Decision best = decision;
  best.knapsack->problem.max_memory = 0;
  cut_without_losers(best);
  double low = 0;
  double high = decision.knapsack->problem.max_memory;
  for (int i = 0; i < kAttempts; ++i) {
    const double middle = (low + high) / 2;
    decision.knapsack->problem.max_memory = middle;
    cut_without_losers(decision);
    if (!keeps(decision)) {
      high = middle;
      continue;
    }
    low = middle;
    best = decision;
  }
  decision = std::move(best);
}

}  // namespace sapwood::partition
