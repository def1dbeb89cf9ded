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

/// The field of the options that the members lead to.
template <auto Member, auto... Inner>
constexpr auto at = [](O& options) -> auto& {
  if constexpr (sizeof...(Inner) == 0) {
    return options.*Member;
  } else {
    return (options.*Member).*(Inner, ...);
  }
};

// clang-format off
const OptionRow kRows[] = {
    {"partitioner", "method", +at<&O::method>,
     "default: save what the backward reads; min_cut: save the cheapest cut"},
    {"compatibility", "compatibility", +at<&O::compatibility>,
     "torch_2_13: PyTorch's answers, its faults included; repaired: right where PyTorch is wrong"},
    {"cse", "cse", +at<&O::cse>, "Merge common subexpressions first"},
    {"recompute_views", "recompute-views", +at<&O::recompute_views>, "Recompute views in the backward"},
    {"treat_parameters_as_free_to_save", "parameters-free", +at<&O::treat_parameters_as_free_to_save>,
     "Parameters and buffers cost nothing to save"},
    {"aggressive_recomputation", "aggressive", +at<&O::aggressive_recomputation>,
     "Recompute all that may be recomputed"},
    {"ban_recompute_used_far_apart", "ban-far-apart", +at<&O::ban_recompute_used_far_apart>,
     "Don't recompute what is used far apart"},
    {"ban_recompute_long_fusible_chains", "ban-long-chains", +at<&O::ban_recompute_long_fusible_chains>,
     "Don't recompute long chains of fusible operators"},
    {"ban_recompute_materialized_backward", "ban-materialized", +at<&O::ban_recompute_materialized_backward>,
     "Don't recompute what the backward materializes"},
    {"ban_recompute_not_in_allowlist", "ban-not-in-allowlist", +at<&O::ban_recompute_not_in_allowlist>,
     "Recompute only operators known to be cheap"},
    {"ban_recompute_reductions", "ban-reductions", +at<&O::ban_recompute_reductions>, "Don't recompute reductions"},
    {"max_dist_from_bw", "max-dist-from-bw", +at<&O::max_dist_from_bw>,
     "Don't recompute values further from the backward than this"},
    {"is_non_builtin_to_include", "non-builtin", +at<&O::is_non_builtin_to_include>,
     "Custom operators and user kernels take part in the memory budget"},
    {"unsafe_allow_optimization_of_collectives", "unsafe-collectives",
     +at<&O::unsafe_allow_optimization_of_collectives>,
     "Collectives may be recomputed: ranks that decide differently hang"},
    {"graphsafe_rng_functionalization", "graphsafe-rng", +at<&O::graphsafe_rng_functionalization>,
     "Recomputed random operators of one accelerator share generators that graph capture can follow"},
    {"activation_memory_budget", "budget", +at<&O::activation_memory_budget>,
     "Saved bytes, from 0 (inputs only) to 1 (what the fastest cut saves)"},
    {"activation_memory_bytes", "budget-bytes", +at<&O::activation_memory_bytes>,
     "At most so many bytes are saved that aren't inputs of the step"},
    {"activation_memory_peak_bytes", "budget-peak", +at<&O::activation_memory_peak_bytes>,
     "At most so many bytes are alive at once, inputs apart"},
    {"activation_memory_budget_solver", "solver", +at<&O::activation_memory_budget_solver>,
     "Chooses what a budget below 1 keeps"},
    {"activation_memory_budget_runtime_estimator", "estimator", +at<&O::activation_memory_budget_runtime_estimator>,
     "What recomputing a value costs: its operations, its measured time, or 1"},
    {"recompute_only_free", "only-free", +at<&O::recompute_only_free>,
     "Recompute only what costs no pass over memory"},
    {"activation_quantization_aten_pass", "quantize", +at<&O::quantization, &QuantizationOptions::enabled>,
     "Keep large saved tensors in eight bits"},
    {"quant_type", "quantize-dtype", +at<&O::quantization, &QuantizationOptions::dtype>, "The type of eight bits"},
    {"use_scaling", "quantize-scaling", +at<&O::quantization, &QuantizationOptions::use_scaling>,
     "Scale quantized rows to the range of the type"},
    {"size_in_mb", "quantize-size", +at<&O::quantization, &QuantizationOptions::size_in_mb>,
     "Smallest tensor that is quantized, in MiB"},
    {"exclude_primals", "quantize-exclude-primals", +at<&O::quantization, &QuantizationOptions::exclude_primals>,
     "Leave inputs as they are"},
    {"allowed_dtypes", "quantize-dtypes", +at<&O::quantization, &QuantizationOptions::allowed_dtypes>,
     "Types of tensors that are quantized, separated by ;"},
    {"skip_dynamo_guards", "quantize-by-bounds", +at<&O::quantization, &QuantizationOptions::skip_dynamo_guards>,
     "Judge symbolic sizes by their bounds, not by their hints"},
    {"quantize_dynamic_shape", "quantize-dynamic", +at<&O::quantization, &QuantizationOptions::quantize_dynamic_shape>,
     "Quantize where the bounds leave it open"},
    {"enable_activation_offloading", "offload", +at<&O::offload, &OffloadOptions::enabled>,
     "Move marked saved tensors to host memory"},
    {"offload_names", "offload-names", +at<&O::offload, &OffloadOptions::names>,
     "Values to offload, separated by commas"},
    {"activation_offload_separate_stream", "offload-stream", +at<&O::offload, &OffloadOptions::separate_stream>,
     "Copy beside the computation"},
    {"activation_offload_sink_wait", "offload-sink", +at<&O::offload, &OffloadOptions::sink_wait>,
     "Wait for copies at the end of the forward"},
    {"activation_reload_prefetch", "offload-prefetch", +at<&O::offload, &OffloadOptions::prefetch>,
     "Start copies back early"},
    {"activation_offload_cpu_gpu_bw", "offload-bandwidth", +at<&O::offload, &OffloadOptions::bandwidth_gb_per_s>,
     "Between host and device, in GB/s"},
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

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string joined_by(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(1, separator)) + part;
  return text;
}

graph::DType dtype_from(const OptionRow& row, std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(std::string_view("torch.").size());
  const auto dtype = graph::dtype_from_name(text);
  if (!dtype) refuse(row, text, "a type such as bfloat16 or float8_e5m2");
  return *dtype;
}

/// Reads a text into the field of one row.
struct Setter {
  PartitionOptions& options;
  const OptionRow& row;
  std::string_view text;

  void operator()(OptionRow::At<bool> field) const {
    const bool yes = text == "true" || text == "1" || text == "on";
    if (!yes && text != "false" && text != "0" && text != "off") refuse(row, text, "true or false");
    field(options) = yes;
  }
  void operator()(OptionRow::At<double> field) const { field(options) = number_from<double>(row, text, "a number"); }
  void operator()(OptionRow::At<int64_t> field) const {
    field(options) = number_from<int64_t>(row, text, "a whole number");
  }
  void operator()(OptionRow::At<std::optional<int64_t>> field) const {
    field(options).reset();
    if (text != "none") field(options) = number_from<int64_t>(row, text, "a whole number or none");
  }
  void operator()(OptionRow::At<graph::DType> field) const { field(options) = dtype_from(row, text); }
  void operator()(OptionRow::At<OptionRow::DTypes> field) const {
    OptionRow::DTypes dtypes;
    for (const std::string& word : split(text, ';')) dtypes.push_back(dtype_from(row, word));
    field(options) = std::move(dtypes);
  }
  void operator()(OptionRow::At<OptionRow::Names> field) const { field(options) = split(text, ','); }
  template <typename Enum>
  void operator()(OptionRow::At<Enum> field) const {
    const auto all = words<Enum>();
    std::string wanted(text);
    std::ranges::replace(wanted, '-', '_');  // as flags are written
    const auto found = std::ranges::find(all, wanted);
    if (found == all.end()) refuse(row, text, "one of " + joined(all) + did_you_mean(text, all));
    field(options) = static_cast<Enum>(found - all.begin());
  }
};

struct Printer {
  PartitionOptions& options;

  std::string operator()(OptionRow::At<bool> field) const { return field(options) ? "true" : "false"; }
  std::string operator()(OptionRow::At<double> field) const { return float_text(field(options)); }
  std::string operator()(OptionRow::At<int64_t> field) const { return std::to_string(field(options)); }
  std::string operator()(OptionRow::At<std::optional<int64_t>> field) const {
    return field(options) ? std::to_string(*field(options)) : "none";
  }
  std::string operator()(OptionRow::At<graph::DType> field) const {
    return std::string(graph::dtype_name(field(options)));
  }
  std::string operator()(OptionRow::At<OptionRow::DTypes> field) const {
    OptionRow::Names names;
    for (const graph::DType dtype : field(options)) names.emplace_back(graph::dtype_name(dtype));
    return joined_by(names, ';');
  }
  std::string operator()(OptionRow::At<OptionRow::Names> field) const { return joined_by(field(options), ','); }
  template <typename Enum>
  std::string operator()(OptionRow::At<Enum> field) const {
    return std::string(words<Enum>()[static_cast<size_t>(field(options))]);
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
      []<typename T>(OptionRow::At<T>) -> std::vector<std::string_view> {
        if constexpr (std::is_enum_v<T> && !std::is_same_v<T, graph::DType>)
          return {words<T>().begin(), words<T>().end()};
        return {};
      },
      row.field);
}

std::string option_text(const PartitionOptions& options, const OptionRow& row) {
  PartitionOptions copy = options;  // the rows lead to what can be changed
  return std::visit(Printer{copy}, row.field);
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
  if (options.activation_memory_peak_bytes.value_or(0) < 0)
    throw_user(kStage, "activation_memory_peak_bytes is negative; give the bytes that may be alive, or leave it out");
  if (options.activation_memory_bytes && options.activation_memory_peak_bytes)
    throw_user(kStage, "activation_memory_bytes and activation_memory_peak_bytes exclude each other; give one of them");
  if (!(options.offload.bandwidth_gb_per_s > 0))
    throw_user(kStage, "the bandwidth for offloading isn't positive; give GB/s between host and device, 50 by default");
  if (options.max_dist_from_bw < 0) throw_user(kStage, "max_dist_from_bw is negative; it counts uses, 1000 by default");
  const bool asks = options.activation_memory_budget_runtime_estimator == Estimator::kCustom ||
                    options.activation_memory_budget_runtime_estimator == Estimator::kProfile;
  if (asks && !options.runtime_of)
    throw_user(kStage, "the estimators 'profile' and 'custom' need a function runtime_of; set it, or use 'flops'");
  if (options.activation_memory_budget_solver == Solver::kCustom && !options.custom_solver)
    throw_user(kStage, "the solver 'custom' needs a function custom_solver; set it, or use 'dp'");
}

}  // namespace sapwood::partition
