#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "graph/node.h"

namespace sapwood::interp {

/// Bytes in the host memory of a reference device.
struct HostMemory {
  int64_t bytes = 0;
  int64_t peak_bytes = 0;
};

/// An accelerator and its host, both played by the CPU: what a graph keeps on "cuda:0" is in ordinary memory, and what
/// it moves to "cpu" is in a second space, whose bytes are counted.
///
/// It is as unhelpful as an accelerator may be. A copy started by `ao.offload` or `ao.reload` happens in its wait:
/// until then the result is not a number, and what is written into the source before the wait is in the copy. The
/// tensor that a wait keeps alive is freed by it: all that shares its memory reads as not a number (-1, true) from then
/// on, and its bytes on the host no longer count.
///
/// One device serves a forward and its backward, one after the other. Not thread-safe. Tensors may outlive it.
class ReferenceDevice {
 public:
  ReferenceDevice();

  /// Whether the device runs this operator: copies between memories, waits, streams and events.
  static bool runs(std::string_view target);

  /// Runs the call with the arguments on the stack and leaves its results there. Errors: user error, naming node and
  /// operator, for a wait without a pending transfer, a source that was freed during its transfer, or an event that
  /// nobody recorded. Pre: `runs(node.target)`.
  void call(const graph::Node& node, torch::jit::Stack& stack);

  int64_t host_bytes() const { return host_->memory.bytes; }
  int64_t host_peak_bytes() const { return host_->memory.peak_bytes; }
  /// Transfers that were started and not waited for.
  size_t pending_transfers() const { return pending_.size(); }

 private:
  struct Transfer {
    at::Tensor result;
    c10::weak_intrusive_ptr<c10::TensorImpl> source;
  };
  /// Shared with the tensors on the host, which may outlive the device.
  struct Host {
    HostMemory memory;
    std::map<const void*, int64_t> blocks;
    void release(const void* block);
  };

  at::Tensor host_tensor_like(const at::Tensor& tensor);
  at::Tensor start(const at::Tensor& source, at::Tensor result);
  void wait(const graph::Node& node, torch::jit::Stack& stack);
  at::Tensor put(const at::Tensor& source, const c10::Device& device);
  void stream_call(const graph::Node& node, const torch::jit::Stack& stack);

  std::shared_ptr<Host> host_;
  std::map<const c10::TensorImpl*, Transfer> pending_;
  std::set<int64_t> recorded_events_;
};

}  // namespace sapwood::interp
