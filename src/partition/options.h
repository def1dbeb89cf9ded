#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "partition/handover.h"
#include "partition/knapsack.h"

namespace sapwood::partition {

class RankExchange;  // agreement.h

enum class Method : uint8_t {
  kDefault,  ///< save what the backward reads, as autograd does
  kMinCut,   ///< save the cheapest cut and recompute the rest
};

/// Whose answers to give where PyTorch is known to be wrong.
enum class Compatibility : uint8_t {
  kRepaired,  ///< ours: what docs/partitioner.md lists as repaired is right
  kTorch213,  ///< those of PyTorch 2.13, node for node, faults included
};

/// How the memory budget spends what it has: which of the values that are dear to recompute are kept.
enum class Solver : uint8_t { kGreedy, kIlp, kDp, kHirschberg, kDynamicDp, kCustom };

/// What recomputing a value costs.
enum class Estimator : uint8_t {
  kFlops,    ///< floating point operations of products, convolutions and attention; 1 for everything else
  kProfile,  ///< measured milliseconds: `runtime_of` is asked, which a driver sets
  kTesting,  ///< 1 for everything
  kCustom,   ///< `runtime_of` is asked
};

/// The knobs of partitioning. Where torch._functorch.config has the same knob, name, meaning and default are its own.
struct PartitionOptions {
  Method method = Method::kMinCut;
  Compatibility compatibility = Compatibility::kRepaired;
  bool cse = true;
  bool recompute_views = false;
  bool treat_parameters_as_free_to_save = true;
  bool aggressive_recomputation = false;
  bool ban_recompute_used_far_apart = true;
  bool ban_recompute_long_fusible_chains = true;
  bool ban_recompute_materialized_backward = true;
  bool ban_recompute_not_in_allowlist = true;
  bool ban_recompute_reductions = true;
  int64_t max_dist_from_bw = 1000;
  bool is_non_builtin_to_include = false;
  bool unsafe_allow_optimization_of_collectives = false;
  bool graphsafe_rng_functionalization = true;

  /// Between what the inputs hold (0) and what the fastest cut saves (1).
  double activation_memory_budget = 1.0;
  /// Instead of the fraction: at most so many bytes may be saved that aren't inputs of the step.
  std::optional<int64_t> activation_memory_bytes;
  /// Instead of both: at most so many bytes may be alive at once, inputs apart, as `simulate_peak` counts them.
  std::optional<int64_t> activation_memory_peak_bytes;
  Solver activation_memory_budget_solver = Solver::kDp;
  Estimator activation_memory_budget_runtime_estimator = Estimator::kFlops;
  CustomSolver custom_solver;                                                       ///< with Solver::kCustom
  std::function<double(const graph::Graph& joint, graph::NodeId node)> runtime_of;  ///< with kProfile and kCustom

  QuantizationOptions quantization;
  OffloadOptions offload;

  /// The other processes that train the model, which must save the same values; none: nobody is asked. Borrowed.
  RankExchange* ranks = nullptr;

  /// Recompute only what costs no pass over memory (views, constants): for executors that don't fuse.
  bool recompute_only_free = false;
};

/// One knob: everything that the command line, plan files and the documentation know of it.
struct OptionRow {
  /// Where the value is.
  template <typename T>
  using At = T& (*)(PartitionOptions&);
  using Names = std::vector<std::string>;
  using DTypes = std::vector<graph::DType>;
  using Field = std::variant<At<bool>, At<double>, At<int64_t>, At<std::optional<int64_t>>, At<Method>,
                             At<Compatibility>, At<Solver>, At<Estimator>, At<graph::DType>, At<DTypes>, At<Names>>;
  std::string_view name;  ///< as in PyTorch: "activation_memory_budget"
  std::string_view flag;  ///< on the command line, without dashes: "budget"
  Field field;
  std::string_view help;
};

/// Every knob that has a text form, in the order of the struct.
std::span<const OptionRow> option_table();

/// The row with this name or flag, or null.
const OptionRow* find_option(std::string_view name);

/// The words that an option takes ("default", "min_cut"); empty if it takes a number or a switch.
std::vector<std::string_view> option_choices(const OptionRow& row);

/// The value as text: "true", "0.5", "dp".
std::string option_text(const PartitionOptions& options, const OptionRow& row);

/// Sets one knob from text. Errors: user error naming the option, the text and what is allowed.
void set_option(PartitionOptions& options, const OptionRow& row, std::string_view text);

/// Errors: user error if a value is out of range (a budget that isn't from 0 to 1, a negative distance), or if a custom
/// solver or estimator is asked for and none is given.
void check_options(const PartitionOptions& options);

}  // namespace sapwood::partition
