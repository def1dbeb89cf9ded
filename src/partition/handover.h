#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

// How saved tensors are kept between forward and backward, besides as they are: in eight bits, or in host memory.

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

/// Which saved tensors wait for the backward in host memory, and how they get there and back. The switches are those of
/// torch._functorch.config (`activation_offload_*`).
struct OffloadOptions {
  bool enabled = false;
  bool separate_stream = false;  ///< copies run beside the computation (`ao.*` operators)
  bool legacy_streams = false;   ///< with `separate_stream`: spelled out with `streams.*` operators
  bool sink_wait = false;        ///< with `separate_stream`: the forward waits for its copies at its end
  bool prefetch = false;         ///< with `separate_stream`: copies back start early enough to be hidden
  double bandwidth_gb_per_s = 50;
  /// Names of forward values to offload. Those whose checkpoint policy is kMustCpuOffload or kPreferCpuOffload are
  /// taken besides.
  std::vector<std::string> names;
  /// Milliseconds that one call of the backward computes, for prefetching; 0 for calls that hide nothing (PyTorch
  /// counts only those with a flop formula). Without it every copy back starts at once.
  std::function<double(const graph::Graph&, graph::NodeId)> milliseconds;
};

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

struct OffloadedTensor {
  std::string name;      ///< of the value
  std::string on_host;   ///< "cpu_offload_<name>": output of the forward, placeholder of the backward
  std::string reloaded;  ///< "gpu_reload_<name>": what the backward reads
  int64_t bytes = 0;     ///< moved to the host, and back again
};

struct OffloadRefusal {
  std::string name;
  std::string reason;  ///< one sentence
};

struct OffloadReport {
  std::vector<OffloadedTensor> tensors;  ///< by position among the forward's outputs
  std::vector<OffloadRefusal> refused;   ///< in graph order, then names that are no node in the order of the options
  int64_t bytes() const;
};

}  // namespace sapwood::partition
