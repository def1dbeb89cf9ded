#pragma once

#include <string>
#include <vector>

#include "partition/pair.h"

namespace sapwood::partition {

/// How saved tensors are kept in eight bits between forward and backward; names, meanings and defaults are those of
/// PyTorch's `activation_quantization_aten_pass`, except that one `use_scaling` holds for both halves: PyTorch's
/// forward scales by default and its backward doesn't scale back, which makes gradients wrong by the scale.
struct QuantizationOptions {
  bool enabled = false;
  graph::DType dtype = graph::DType::kFloat8E5M2;
  bool use_scaling = true;       ///< scale each row of the last dimension to the range of `dtype`
  double size_in_mb = 100;       ///< smallest tensor that is quantised, in units of 2^20 bytes
  bool exclude_primals = false;  ///< leave out values whose name contains "primals"
  std::vector<graph::DType> allowed_dtypes = {graph::DType::kBFloat16};
  bool skip_dynamo_guards = false;      ///< decide symbolic sizes by their bounds, not by their hints
  bool quantize_dynamic_shape = false;  ///< with `skip_dynamo_guards`: yes if the bounds leave it open
  bool dequantize_at_first_use =
      false;  ///< not behind the placeholders, where PyTorch does, but before the first reader
};

/// Whether a saved value is worth it and can be quantised: a tensor of an allowed floating-point type larger than
/// `options.dtype`, with at least one dimension and not empty, and large enough. Without `skip_dynamo_guards` a size
/// without a hint is not large enough.
bool should_quantize(const graph::Value& value, const graph::SymbolTable& symbols, const QuantizationOptions& options);

struct QuantizedTensor {
  std::string name;       ///< of the value
  std::string quantized;  ///< "fp8_quant_pos_<position>_<name>": output of the forward, placeholder of the backward
  std::string scale;      ///< "fp8_scale_pos_<position>_<name>", likewise; empty without scaling
  graph::DType dtype = graph::DType::kBFloat16;  ///< before
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;  ///< including the scale
};

struct QuantizationReport {
  std::vector<QuantizedTensor> tensors;  ///< by position among the forward's outputs
  int64_t bytes_before() const;
  int64_t bytes_after() const;
};

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
