#include "partition/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/suggest.h"
#include "graph/number_text.h"

namespace sapwood::partition {
namespace {

constexpr std::string_view kStage = "partition";

using O = PartitionOptions;

// clang-format off
constexpr OptionRow kRows[] = {
    {"partitioner", "method", &O::method, "default: save what the backward reads; min_cut: save the cheapest cut"},
    {"compatibility", "compatibility", &O::compatibility,
     "torch_2_13: PyTorch's answers, its faults included; repaired: right where PyTorch is wrong"},
    {"cse", "cse", &O::cse, "Merge common subexpressions first"},
    {"recompute_views", "recompute-views", &O::recompute_views, "Recompute views in the backward"},
    {"treat_parameters_as_free_to_save", "parameters-free", &O::treat_parameters_as_free_to_save,
     "Parameters and buffers cost nothing to save"},
    {"aggressive_recomputation", "aggressive", &O::aggressive_recomputation, "Recompute all that may be recomputed"},
    {"ban_recompute_used_far_apart", "ban-far-apart", &O::ban_recompute_used_far_apart,
     "Don't recompute what is used far apart"},
    {"ban_recompute_long_fusible_chains", "ban-long-chains", &O::ban_recompute_long_fusible_chains,
     "Don't recompute long chains of fusible operators"},
    {"ban_recompute_materialized_backward", "ban-materialized", &O::ban_recompute_materialized_backward,
     "Don't recompute what the backward materializes"},
    {"ban_recompute_not_in_allowlist", "ban-not-in-allowlist", &O::ban_recompute_not_in_allowlist,
     "Recompute only operators known to be cheap"},
    {"ban_recompute_reductions", "ban-reductions", &O::ban_recompute_reductions, "Don't recompute reductions"},
    {"max_dist_from_bw", "max-dist-from-bw", &O::max_dist_from_bw,
     "Don't recompute values further from the backward than this"},
    {"is_non_builtin_to_include", "non-builtin", &O::is_non_builtin_to_include,
     "Custom operators and user kernels take part in the memory budget"},
    {"unsafe_allow_optimization_of_collectives", "unsafe-collectives", &O::unsafe_allow_optimization_of_collectives,
     "Collectives may be recomputed: ranks that decide differently hang"},
    {"graphsafe_rng_functionalization", "graphsafe-rng", &O::graphsafe_rng_functionalization,
     "Recomputed random operators of one accelerator share generators that graph capture can follow"},
    {"activation_memory_budget", "budget", &O::activation_memory_budget,
     "Saved bytes, from 0 (inputs only) to 1 (what the fastest cut saves)"},
    {"activation_memory_bytes", "budget-bytes", &O::activation_memory_bytes,
     "At most so many bytes are saved that aren't inputs of the step"},
    {"activation_memory_budget_solver", "solver", &O::activation_memory_budget_solver,
     "Chooses what a budget below 1 keeps"},
    {"activation_memory_budget_runtime_estimator", "estimator", &O::activation_memory_budget_runtime_estimator,
     "What recomputing a value costs: its operations, its measured time, or 1"},
    {"recompute_only_free", "only-free", &O::recompute_only_free, "Recompute only what costs no pass over memory"},
};
// clang-format on

constexpr std::array<std::string_view, 2> kMethods = {"default", "min_cut"};
constexpr std::array<std::string_view, 2> kCompatibilities = {"repaired", "torch_2_13"};
constexpr std::array<std::string_view, 6> kSolvers = {
    "greedy", "ilp", "dp", "dp_knapsack_sliding_hirschberg", "dynamic_memory_budget_dp", "custom"};
constexpr std::array<std::string_view, 4> kEstimators = {"flops", "profile", "testing", "custom"};

template <typename Enum>
constexpr std::span<const std::string_view> words();
template <>
constexpr std::span<const std::string_view> words<Method>() {
  return kMethods;
}
template <>
constexpr std::span<const std::string_view> words<Compatibility>() {
  return kCompatibilities;
}
template <>
constexpr std::span<const std::string_view> words<Solver>() {
  return kSolvers;
}
template <>
constexpr std::span<const std::string_view> words<Estimator>() {
  return kEstimators;
}

std::string float_text(double value) {
  std::string text;
  graph::append_float(value, text);
  return text;
}

std::string joined(std::span<const std::string_view> items) {
  std::string text;
  for (const std::string_view item : items) text += (text.empty() ? "" : ", ") + std::string(item);
  return text;
}

[[noreturn]] void refuse(const OptionRow& row, std::string_view text, const std::string& wanted) {
  throw_user(kStage, "option '" + std::string(row.name) + "': " + quoted_excerpt(text) + " isn't " + wanted);
}

template <typename Number>
Number number_from(const OptionRow& row, std::string_view text, const std::string& wanted) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(row, text, wanted);
  return value;
}

/// Reads a text into the field of one row.
struct Setter {
  PartitionOptions& options;
  const OptionRow& row;
  std::string_view text;

  void operator()(bool O::* field) const {
    const bool yes = text == "true" || text == "1" || text == "on";
    if (!yes && text != "false" && text != "0" && text != "off") refuse(row, text, "true or false");
    options.*field = yes;
  }
  void operator()(double O::* field) const { options.*field = number_from<double>(row, text, "a number"); }
  void operator()(int64_t O::* field) const { options.*field = number_from<int64_t>(row, text, "a whole number"); }
  void operator()(std::optional<int64_t> O::* field) const {
    if (text == "none") {
      (options.*field).reset();
    } else {
      options.*field = number_from<int64_t>(row, text, "a whole number or none");
    }
  }
  template <typename Enum>
  void operator()(Enum O::* field) const {
    const auto all = words<Enum>();
    std::string wanted(text);
    std::ranges::replace(wanted, '-', '_');  // as flags are written
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i] != wanted) continue;
      options.*field = static_cast<Enum>(i);
      return;
    }
    refuse(row, text, "one of " + joined(all) + did_you_mean(text, all));
  }
};

struct Printer {
  const PartitionOptions& options;

  std::string operator()(bool O::* field) const { return options.*field ? "true" : "false"; }
  std::string operator()(double O::* field) const { return float_text(options.*field); }
  std::string operator()(int64_t O::* field) const { return std::to_string(options.*field); }
  std::string operator()(std::optional<int64_t> O::* field) const {
    return options.*field ? std::to_string(*(options.*field)) : "none";
  }
  template <typename Enum>
  std::string operator()(Enum O::* field) const {
    return std::string(words<Enum>()[static_cast<size_t>(options.*field)]);
  }
};

}  // namespace

std::span<const OptionRow> option_table() { return kRows; }

const OptionRow* find_option(std::string_view name) {
  for (const OptionRow& row : kRows)
    if (row.name == name || row.flag == name) return &row;
  return nullptr;
}

std::vector<std::string_view> option_choices(const OptionRow& row) {
  return std::visit(
      []<typename T>(T O::*) -> std::vector<std::string_view> {
        if constexpr (std::is_enum_v<T>) return {words<T>().begin(), words<T>().end()};
        return {};
      },
      row.field);
}

std::string option_text(const PartitionOptions& options, const OptionRow& row) {
  return std::visit(Printer{options}, row.field);
}

void set_option(PartitionOptions& options, const OptionRow& row, std::string_view text) {
  std::visit(Setter{options, row, text}, row.field);
}

void check_options(const PartitionOptions& options) {
  const double budget = options.activation_memory_budget;
  if (!(budget >= 0 && budget <= 1)) {
    throw_user(kStage, "the activation memory budget is " + float_text(budget) +
                           ", but it is a fraction from 0 (save the inputs only) to 1 (save what is fastest)");
  }
  if (options.activation_memory_bytes.value_or(0) < 0)
    throw_user(kStage, "activation_memory_bytes is negative; give the bytes that may be saved, or leave it out");
  if (options.max_dist_from_bw < 0) throw_user(kStage, "max_dist_from_bw is negative; it counts uses, 1000 by default");
  const bool asks = options.activation_memory_budget_runtime_estimator == Estimator::kCustom ||
                    options.activation_memory_budget_runtime_estimator == Estimator::kProfile;
  if (asks && !options.runtime_of)
    throw_user(kStage, "the estimators 'profile' and 'custom' need a function runtime_of; set it, or use 'flops'");
  if (options.activation_memory_budget_solver == Solver::kCustom && !options.custom_solver)
    throw_user(kStage, "the solver 'custom' needs a function custom_solver; set it, or use 'dp'");
}

}  // namespace sapwood::partition
