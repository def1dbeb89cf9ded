#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "ops/schema.h"

namespace sapwood::ops {

/// What kind of work an operator does. Passes ask for this, never for names.
enum class OpClass : uint8_t {
  kPointwise,
  kReduction,
  kScan,
  kView,
  kCopy,
  kMatmul,
  kConvolution,
  kPooling,
  kAttention,
  kRecurrent,
  kNormalization,
  kSoftmax,
  kLoss,
  kIndexing,
  kRandom,
  kCreation,
  kForeach,
  kOptimizer,
  kCollective,
  kScalar,
  kAssertion,
  kOther,
};

/// How PyTorch 2.13's partitioner rates an operator for recomputation; the same for all overloads of one operator.
enum class Remat : uint8_t {
  kNever,      ///< not on the list of recomputable operators, and not fusible
  kRecompute,  ///< cheap and fusible
  kView,       ///< cheap, fusible, and never banned
  kRandom,     ///< fusible, but draws random numbers
  kHeavy,      ///< compute intensive; not fusible
};

/// Which formula counts the floating point operations.
enum class FlopFormula : uint8_t {
  kNone,
  kMm,
  kAddmm,
  kBmm,
  kBaddbmm,
  kConvolution,
  kConvolutionBackward,
  kAttention,
  kAttentionBackward,
};

/// Flags of a row.
inline constexpr uint8_t kDraws = 1;   ///< takes numbers from a random generator
inline constexpr uint8_t kEffect = 2;  ///< has an effect besides its results, so it is kept even if nothing reads them

/// What we know of an operator and can't derive from its schema: one row per operator overload.
struct OpRow {
  std::string_view name;    ///< "aten.mm.default", "operator.getitem"
  std::string_view schema;  ///< as PyTorch prints it; empty for Python callables
  OpClass op_class = OpClass::kOther;
  Remat remat = Remat::kNever;
  uint8_t flags = 0;
  FlopFormula flops = FlopFormula::kNone;
};

/// Everything a pass may ask about an operator. Immutable, cheap to copy (the schema is shared).
struct OpInfo {
  std::string name;                      ///< "aten.mm.default"
  std::string packet;                    ///< the name without its overload: "aten.mm"
  std::shared_ptr<const Schema> schema;  ///< null for Python callables and higher-order operators
  OpClass op_class = OpClass::kOther;
  Remat remat = Remat::kNever;
  FlopFormula flops = FlopFormula::kNone;
  bool known = false;       ///< has a row in the table
  bool draws = false;       ///< takes numbers from a random generator
  bool effect = false;      ///< must run exactly once, in order, even without readers
  bool is_mutable = false;  ///< writes to an argument
  bool is_view = false;     ///< a result shares memory with an argument

  /// May be copied, merged or dropped without anyone noticing.
  bool is_pure() const { return !draws && !effect && !is_mutable; }
  /// PyTorch's partitioner may recompute it.
  bool is_recomputable() const { return remat == Remat::kRecompute || remat == Remat::kView; }
  /// Can be part of one generated loop together with a fusible neighbour.
  bool is_fusible() const { return is_recomputable() || remat == Remat::kRandom; }
};

/// Every row, family by family.
std::span<const OpRow> all_rows();

/// The operator with this target name, or null. O(1), thread-safe; the pointer is valid for the life of the process.
const OpInfo* find_op(std::string_view target);

/// What is known of the operator that `node` calls. Unknown operators get safe answers from the graph's own declaration
/// (schema and tags): an `aten` operator tagged pointwise counts as pointwise, all others are never recomputed and
/// never fused; what mutates or may draw random numbers is so marked. Placeholders, attributes and the output give an
/// empty record.
OpInfo describe(const graph::Graph& graph, const graph::Node& node);

/// Whether this very call takes numbers from a random generator: attention with a dropout probability of zero does not.
bool draws_numbers(const OpInfo& info, const graph::Node& call);

std::string_view op_class_name(OpClass op_class);

}  // namespace sapwood::ops
