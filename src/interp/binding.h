#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "interp/torch_types.h"

namespace sapwood::interp {

/// Pops the arguments, pushes the results, as a boxed kernel does.
using NativeKernel = void (*)(torch::jit::Stack&);

/// What a call_function target means: an operator of libtorch's dispatcher, or one of our own kernels for operators
/// that PyTorch implements in Python only. Cheap to copy; valid for the life of the process.
class Callable {
 public:
  explicit Callable(c10::OperatorHandle op) : op_(op) {}
  Callable(const c10::FunctionSchema& schema, NativeKernel kernel) : schema_(&schema), native_(kernel) {}

  const c10::FunctionSchema& schema() const { return op_ ? op_->schema() : *schema_; }
  /// The dispatcher's handle, or null for a native kernel.
  const c10::OperatorHandle* op() const { return op_ ? &*op_ : nullptr; }
  NativeKernel native() const { return native_; }
  /// Runs it through the dispatcher.
  void call(torch::jit::Stack& stack) const { op_ ? op_->callBoxed(stack) : native_(stack); }

 private:
  std::optional<c10::OperatorHandle> op_;
  const c10::FunctionSchema* schema_ = nullptr;
  NativeKernel native_ = nullptr;
};

/// "aten.mm.default" -> aten::mm, "aten.add.Tensor" -> aten::add.Tensor; any namespace. None if it isn't registered in
/// this libtorch.
std::optional<Callable> find_callable(std::string_view target);

/// As `find_callable`. Errors: unsupported, naming node and target, if there is no such operator.
Callable resolve_callable(const graph::Node& node);

/// Where the value of a node goes in an argument stack.
struct NodeSlot {
  size_t argument = 0;
  int64_t element = -1;  ///< position inside a list argument; -1: the argument itself
  graph::NodeId node = graph::kNoNode;
};

/// A call with all constants in place and typed by the operator's schema; what depends on nodes is None until `fill`
/// puts it there.
struct BoundCall {
  Callable callable;
  torch::jit::Stack stack;  ///< one value per schema argument
  std::vector<NodeSlot> slots;
};

/// Binds a node's arguments to its operator's schema: positional, then by name, then defaults. Numbers become wrapped
/// 0-dim tensors where a tensor is expected, dtypes and the like become the integers that boxed kernels take, symbolic
/// sizes are evaluated. Errors: unsupported for an unknown operator; user error naming node, argument and expected type
/// for arguments that don't fit.
BoundCall bind_call(const graph::Node& node, const SymbolValues& symbols);

/// Puts the run-time value of `slot.node` into `stack`, converted to what the schema wants there (a double becomes a
/// Scalar or a wrapped 0-dim tensor). Lists are shared between copies of a stack: fill each list of a stack that is run
/// only once, or with values that never change.
void fill(const BoundCall& call, const NodeSlot& slot, c10::IValue value, torch::jit::Stack& stack);

}  // namespace sapwood::interp
