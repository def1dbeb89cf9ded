#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "interp/reference_device.h"
#include "interp/torch_types.h"

namespace sapwood::interp {

/// Sees every node's value right after it was computed.
using Observer = std::function<void(const graph::Node&, const c10::IValue&)>;

struct RunOptions {
  Observer observer = {};  ///< sees the nodes of the graph, not those of bodies
  /// Plays all accelerators of the graph, and the host memory that they copy to. Null: tensors are made on the devices
  /// that the graph names, and operators of a transfer or a stream can't be run.
  ReferenceDevice* device = nullptr;
  bool single_rank = false;  ///< collectives act as in a world of one rank; otherwise they need a process group
};

/// Runs a graph operator by operator on libtorch: slow, simple, the reference for everything else that runs graphs.
///
/// Operators are called through the dispatcher below autograd, so nothing is recorded; values are freed after their
/// last use; operators that mutate their arguments do so. `inputs`: one value per placeholder, in order: a tensor, an
/// int for a symbolic size, a double for a scalar, a generator for a `..._rng_state_<n>`. Symbols take their values
/// from the inputs' sizes where a size is a plain symbol, else from their hints. Returns one value per output of the
/// graph, None where the graph returns None. A value may alias an input. Errors: user error for wrong inputs;
/// unsupported for an operator that isn't registered, a higher-order operator that higher_order.h doesn't list or a
/// constant whose values the graph doesn't hold; runtime error with libtorch's message if a kernel fails. All name node
/// and operator. Any thread; threads may run one graph at a time each.
std::vector<c10::IValue> run(const graph::Graph& graph, std::span<const c10::IValue> inputs,
                             const Observer& observer = {});
std::vector<c10::IValue> run(const graph::Graph& graph, std::span<const c10::IValue> inputs, const RunOptions& options);

/// Inputs of the right types, sizes and strides for `run`, the same for the same seed: floats uniform in [0, 0.1),
/// integers that are 0 in a leading part of the tensor and 1 after it (valid indices, class numbers and offsets),
/// symbolic sizes their hints, scalars uniform in [0, 1), generators of the CPU that start equal if their names end
/// in the same number.
std::vector<c10::IValue> make_random_inputs(const graph::Graph& graph, uint64_t seed);

/// The symbols' values for these inputs: hints, replaced by what the inputs say. Errors: user error for a wrong number
/// of inputs.
SymbolValues bind_symbols(const graph::Graph& graph, std::span<const c10::IValue> inputs);

/// The tensor that a get_attr node stands for, a new one on each call. Errors: unsupported if the graph doesn't hold
/// its values.
at::Tensor constant_tensor(const graph::Graph& graph, const graph::Node& node);

}  // namespace sapwood::interp
