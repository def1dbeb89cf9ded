#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "interp/binding.h"
#include "runtime/exec/pointwise_op.h"

namespace sapwood::exec {

/// Index of a tensor value in Program::values; kNoValue stands for None.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;
/// Index of a storage in Program::regions.
using RegionId = int32_t;
/// Index of a call in Program::calls.
using CallId = int32_t;

/// Where the bytes of a region are.
enum class Placement : uint8_t {
  kInput,     ///< the caller's tensor, bound anew for each run
  kArena,     ///< a fixed place in the executable's arena
  kNumber,    ///< at most 8 bytes, in the executable itself
  kOwned,     ///< allocated (or taken from a kernel) when it is written, freed after its last use
  kOutput,    ///< as kOwned, but handed to the caller
  kConstant,  ///< computed once, when the executable is built
};

/// One storage. Tensors that are views of each other share it; its StorageImpl is fixed, its data pointer is set by
/// placement.
struct Region {
  int64_t bytes = 0;
  Placement placement = Placement::kOwned;
  int32_t input = -1;        ///< kInput: the placeholder whose memory it is
  int64_t input_offset = 0;  ///< kInput: bytes from that tensor's first element back to the start of this region
  int64_t arena_offset = 0;  ///< kArena
  RegionId owner = -1;       ///< the region whose memory this one takes over; -1: it has its own
  c10::intrusive_ptr<c10::StorageImpl> storage;
};

/// One tensor: a fixed TensorImpl with the recorded sizes, strides and offset, on its region's storage.
struct Value {
  at::Tensor tensor;
  RegionId region = -1;
  bool view = false;  ///< made from another value of the region, without a call
};

enum class CallKind : uint8_t {
  kOut,         ///< writes its results into tensors that are among its arguments
  kFunctional,  ///< returns new tensors, whose memory the results take over
  kMutate,      ///< writes arguments that exist already
  kPointwise,   ///< a fused program of exact elementwise operators
};

/// A run-time number goes into an argument.
struct ScalarPatch {
  size_t argument = 0;
  int32_t input = -1;      ///< position among the placeholders
  bool as_tensor = false;  ///< as a wrapped 0-dim tensor
};

/// A number that a pointwise operator reads.
struct PointwiseNumber {
  enum class Kind : uint8_t { kConstant, kInput, kTensor };
  Kind kind = Kind::kConstant;
  double value = 0;           ///< kConstant
  int32_t input = -1;         ///< kInput: position among the placeholders
  ValueId tensor = kNoValue;  ///< kTensor: its only element
  bool negated = false;
};

/// One exact elementwise operator on tensors laid out like its result.
struct ElementaryOp {
  struct Operand {
    ValueId value = kNoValue;
    std::optional<PointwiseNumber> number;  ///< instead of a tensor
  };
  PointwiseOp op = PointwiseOp::kCopy;
  Operand a, b, c;
  std::optional<PointwiseNumber> s, t, u, w;
  ValueId result = kNoValue;
};

/// Part of the step that a call belongs to. Calls of different parts aren't fused, so that no value lives longer than
/// it would.
enum class StepPart : uint8_t { kForward, kBackward, kOptimizer };

/// One thing to execute: an operator on fixed tensors. SSA like the graph, except for kMutate.
struct Call {
  graph::NodeId node = graph::kNoNode;
  CallKind kind = CallKind::kFunctional;
  std::optional<interp::Callable> callable;  ///< none for kPointwise
  torch::jit::Stack stack;
  std::vector<ScalarPatch> scalars;
  std::vector<ValueId> reads;    ///< tensor arguments that are read
  std::vector<ValueId> results;  ///< in the order of the operator's returns, lists flattened; kNoValue: dropped
  std::vector<ValueId> mutated;  ///< kMutate: arguments that are written
  bool ordered = false;          ///< random or effectful: keeps its place among the other ordered calls
  StepPart part = StepPart::kForward;
  bool elementwise = false;  ///< reads element i of equally laid out operands before it writes element i of the result
  /// kPointwise: what it computes, operands before their readers; `results` are those of them that others need. Other
  /// kinds: the call itself as an elementary operator, if it is one.
  std::vector<ElementaryOp> elementary;
  /// kPointwise: several fused programs that run in one launch (operators and results of each); empty: just
  /// `elementary`.
  std::vector<std::pair<std::vector<ElementaryOp>, std::vector<ValueId>>> merged;
};

/// A placeholder.
struct InputBinding {
  ValueId value = kNoValue;    ///< kNoValue: a number
  bool shares_memory = false;  ///< with another placeholder
  std::string name;
};

/// An output of the step.
struct OutputBinding {
  ValueId value = kNoValue;
  graph::OutputRole role = graph::OutputRole::kUserOutput;
  int32_t target = -1;  ///< position of the placeholder that is written or whose gradient it is
};

/// What a step executes, before memory and order are decided.
struct Program {
  std::vector<Value> values;
  std::vector<Region> regions;
  std::vector<Call> calls;
  std::vector<InputBinding> inputs;
  std::vector<OutputBinding> outputs;

  RegionId region_of(ValueId value) const { return values[static_cast<size_t>(value)].region; }
  Region& region(ValueId value) { return regions[static_cast<size_t>(region_of(value))]; }
  const Region& region(ValueId value) const { return regions[static_cast<size_t>(region_of(value))]; }
  const at::Tensor& tensor(ValueId value) const { return values[static_cast<size_t>(value)].tensor; }
};

}  // namespace sapwood::exec
