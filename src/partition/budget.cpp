#include "partition/budget.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "partition/knapsack_solvers.h"
#include "partition/runtime_estimate.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr double kGiga = 1e9;
/// How often a plan that saves too much is tried again with less.
constexpr int kAttempts = 12;

/// Chooses under one budget.
class BudgetChoice {
 public:
  BudgetChoice(const JointView& view, const Classification& classes, const PartitionOptions& options)
      : view_(view), classes_(classes), options_(options), budget_(options.activation_memory_budget) {}

  Decision run() {
    decide();
    decision_.budget = budget_;
    return std::move(decision_);
  }

 private:
  bool repaired() const { return options_.compatibility == Compatibility::kRepaired; }

  /// Bytes that count against the budget: of everything, or, where the budget is in bytes, of what isn't an input.
  int64_t bytes(const std::vector<NodeId>& values) const {
    int64_t sum = 0;
    for (const NodeId id : values)
      if (!options_.activation_memory_bytes || !view_.is_input(id)) sum += view_.bytes(id);
    return sum;
  }

  double range() const {
    return static_cast<double>(decision_.fastest_bytes) / kGiga - static_cast<double>(decision_.input_bytes) / kGiga;
  }
  double ratio(const std::vector<NodeId>& values) const {
    return (static_cast<double>(bytes(values)) / kGiga - static_cast<double>(decision_.input_bytes) / kGiga) / range();
  }
  bool fits(double at) const { return repaired() ? at <= budget_ : at < budget_; }

  const MinCutSolution& solve(const PartitionOptions& rules, const Released& released = {}, bool inputs_free = false) {
    decision_.cut = solve_min_cut(view_, classes_, rules, released, inputs_free);
    SolveRecord record;
    record.ban_used_far_apart = rules.ban_recompute_used_far_apart;
    record.ban_long_fusible_chains = rules.ban_recompute_long_fusible_chains;
    record.ban_materialized_backward = rules.ban_recompute_materialized_backward;
    record.ban_not_in_allowlist = rules.ban_recompute_not_in_allowlist;
    record.ban_reductions = rules.ban_recompute_reductions;
    for (const NodeId id : view_.order)
      if (!released.empty() && released[static_cast<size_t>(id)]) record.released.push_back(id);
    record.cut_value = decision_.cut->value;
    record.saved = decision_.cut->saved;
    record.banned = decision_.cut->bans.order;
    decision_.solves.push_back(std::move(record));
    decision_.saved = decision_.cut->saved;
    return *decision_.cut;
  }

  void decide() {
    PartitionOptions rules = options_;
    if (rules.aggressive_recomputation) rules = without_list(without_heuristics(rules));
    if (budget_ == 0 && !options_.activation_memory_bytes) return save_inputs(rules);
    solve(rules);
    if (budget_ == 1 && !options_.activation_memory_bytes) return;
    decision_.input_bytes = bytes(classes_.inputs);
    decision_.fastest_bytes = bytes(decision_.saved);
    if (decision_.fastest_bytes <= decision_.input_bytes) return;
    if (options_.activation_memory_bytes) {
      budget_ = static_cast<double>(*options_.activation_memory_bytes) / static_cast<double>(decision_.fastest_bytes);
      if (budget_ >= 1) return;
    }
    rules = without_heuristics(rules);
    decision_.more_aggressive_ratio = ratio(solve(rules).saved);
    if (fits(decision_.more_aggressive_ratio)) return;
    rules = without_list(rules);
    decision_.aggressive_ratio = ratio(solve(rules).saved);
    if (fits(decision_.aggressive_ratio)) return;
    weigh_candidates(rules);
  }

  static PartitionOptions without_heuristics(PartitionOptions rules) {
    rules.ban_recompute_used_far_apart = false;
    rules.ban_recompute_long_fusible_chains = false;
    rules.ban_recompute_materialized_backward = false;
    return rules;
  }
  static PartitionOptions without_list(PartitionOptions rules) {
    rules.ban_recompute_not_in_allowlist = false;
    return rules;
  }

  /// PyTorch saves the inputs and nothing else, whatever must be saved. Right is: what can be had from the inputs.
  void save_inputs(const PartitionOptions& rules) {
    if (!repaired()) {
      decision_.saved = classes_.inputs;
      return;
    }
    PartitionOptions none = without_list(without_heuristics(rules));
    none.ban_recompute_reductions = false;
    solve(none, Released(view_.role.size(), 1), /*inputs_free=*/true);
  }

  /// By number: storages of inputs; -1 stands for values without one.
  std::set<int32_t> input_storages() const {
    std::set<int32_t> storages;
    for (const NodeId id : classes_.inputs) storages.insert(storage_of(id));
    if (repaired()) storages.erase(-1);
    return storages;
  }
  int32_t storage_of(NodeId id) const {
    const graph::TensorMeta* tensor = view_.node(id).tensor();
    return tensor ? tensor->storage.value_or(-1) : -1;
  }

  bool may_be_recomputed(NodeId id, const std::set<int32_t>& storages) const {
    if (classes_.distance(id) >= kFarFromBackward || view_.must_save(id)) return false;
    if (repaired() && (must_run_once(view_, id) || view_.is_input(id) || view_.is_symbol(id))) return false;
    return !storages.contains(storage_of(id)) || (options_.is_non_builtin_to_include && is_non_builtin(view_, id));
  }

  /// What the last cut may not recompute, but a smaller budget could: the largest first.
  std::vector<NodeId> candidates() const {
    const std::set<int32_t> storages = input_storages();
    std::vector<NodeId> found;
    for (const NodeId id : decision_.cut->bans.order)
      if (may_be_recomputed(id, storages)) found.push_back(id);
    std::ranges::stable_sort(found, [&](NodeId a, NodeId b) { return view_.bytes(a) > view_.bytes(b); });
    return found;
  }

  void weigh_candidates(const PartitionOptions& rules) {
    KnapsackRecord record;
    record.candidates = candidates();
    if (record.candidates.empty()) {
      if (!repaired()) keep_inputs_and_marks();
      return;
    }
    for (const NodeId id : record.candidates) {
      record.bytes.push_back(view_.bytes(id));
      record.problem.memory.push_back(static_cast<double>(view_.bytes(id)) / kGiga / range());
      record.problem.runtime.push_back(estimate_runtime(view_, id, options_));
    }
    record.problem.max_memory = std::max(budget_, 0.0);
    decision_.knapsack = std::move(record);
    cut_without_losers(rules);
    if (repaired()) stay_within(rules);
  }

  void keep_inputs_and_marks() {
    decision_.saved = classes_.inputs;
    const std::set<int32_t> storages = input_storages();
    for (const NodeId id : decision_.cut->bans.order) {
      const bool counts = classes_.distance(id) < kFarFromBackward && !storages.contains(storage_of(id));
      if (counts && view_.must_save(id)) decision_.saved.push_back(id);
    }
  }

  void cut_without_losers(const PartitionOptions& rules) {
    KnapsackRecord& record = *decision_.knapsack;
    record.choice = solve_knapsack({view_, options_, record.candidates, record.problem});
    Released released(view_.role.size(), 0);
    for (const int32_t item : record.choice.dropped)
      released[static_cast<size_t>(record.candidates[static_cast<size_t>(item)])] = 1;
    solve(rules, released);
  }

  /// The knapsack weighs candidates alone. Where what else gets saved breaks the budget, it is asked again for less.
  void stay_within(const PartitionOptions& rules) {
    double limit = decision_.knapsack->problem.max_memory;
    for (int i = 0; i < kAttempts; ++i) {
      const double over = ratio(decision_.saved) - budget_;
      if (over <= 0 || limit <= 0) return;
      limit = i + 1 == kAttempts ? 0 : std::max(0.0, limit - over);
      decision_.knapsack->problem.max_memory = limit;
      cut_without_losers(rules);
    }
  }

  const JointView& view_;
  const Classification& classes_;
  const PartitionOptions& options_;
  double budget_;
  Decision decision_;
};

}  // namespace

Decision choose_saved_values(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  return BudgetChoice(view, classes, options).run();
}

}  // namespace sapwood::partition
