#pragma once

#include <string>
#include <vector>

#include "partition/handover.h"
#include "partition/pair.h"

namespace sapwood::partition {

/// Whether a saved value is worth it and can be quantised: a tensor of an allowed floating-point type larger than
/// `options.dtype`, with at least one dimension and not empty, and large enough. Without `skip_dynamo_guards` a size
/// without a hint is not large enough.
bool should_quantize(const graph::Value& value, const graph::SymbolTable& symbols, const QuantizationOptions& options);

/// Lets the forward hand over saved tensors in eight bits and the backward widen them again.
///
/// In both graphs a value has the same name. The scales come behind the other tensors and before the saved symbols in
/// the forward's outputs, and behind the last placeholder of the backward that is no tangent or seed. The user's
/// outputs and `facts.static_inputs` stay as they are. Everything else reads the unquantised value. A value that is
/// handed over at several positions is quantised at each of them. Returns: what was done; empty without
/// `options.enabled`. O(size of the graphs). Errors:  user error for a type that isn't an eight-bit float with a range
/// around zero; internal error if the backward
///          lacks a saved value.
/// Source:  the behaviour of `enable_activation_quantization` in PyTorch 2.13, node for node; the backward's calls come
///          behind all placeholders, and values without dimensions are left alone.
QuantizationReport quantize_saved(ForwardBackward& pair, const PairFacts& facts, const QuantizationOptions& options);

}  // namespace sapwood::partition
