#include "interp/reference_device.h"

#include <ATen/Functions.h>
#include <c10/util/strides.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace sapwood::interp {
namespace {

using torch::jit::Stack;

constexpr std::string_view kStage = "interp";
constexpr size_t kAlignment = 64;

[[noreturn]] void fail(const graph::Node& node, const std::string& what) {
  throw_user(kStage, "node '" + node.name + "' (" + node.target + "): " + what);
}

/// Every byte that shares the tensor's storage becomes part of a value that shows where it goes.
void poison(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  if (storage.nbytes() == 0) return;
  std::memset(storage.mutable_data(), tensor.scalar_type() == c10::kBool ? 1 : 0xFF, storage.nbytes());
}

at::Tensor empty_like_device_tensor(const Stack& stack, const at::Tensor& source) {
  const auto sizes = stack[2].isNone() ? source.sizes().vec() : stack[2].toIntVector();
  const auto strides = stack[3].isNone() ? source.strides().vec() : stack[3].toIntVector();
  return at::empty_strided(sizes, strides, source.options());
}

}  // namespace

ReferenceDevice::ReferenceDevice() : host_(std::make_shared<Host>()) {}

bool ReferenceDevice::runs(std::string_view target) {
  return target.starts_with("ao.") || target.starts_with("streams.") || target == "prims.device_put.default";
}

void ReferenceDevice::Host::release(const void* block) {
  const auto found = blocks.find(block);
  if (found == blocks.end()) return;
  memory.bytes -= found->second;
  blocks.erase(found);
}

at::Tensor ReferenceDevice::host_tensor_like(const at::Tensor& tensor) {
  const bool dense = tensor.is_non_overlapping_and_dense();
  const c10::DimVector strides = dense ? c10::DimVector(tensor.strides()) : c10::contiguous_strides(tensor.sizes());
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  const size_t rounded = (static_cast<size_t>(bytes) / kAlignment + 1) * kAlignment;
  void* block = std::aligned_alloc(kAlignment, rounded);
  if (!block) throw Error(ErrorKind::kRuntime, kStage, "no memory for " + std::to_string(bytes) + " bytes on the host");
  host_->blocks[block] = bytes;
  host_->memory.bytes += bytes;
  host_->memory.peak_bytes = std::max(host_->memory.peak_bytes, host_->memory.bytes);
  const auto free_block = [host = host_](void* freed) {
    host->release(freed);
    std::free(freed);  // NOLINT(cppcoreguidelines-no-malloc): the deleter of a storage
  };
  return at::from_blob(block, tensor.sizes(), strides, free_block, tensor.options());
}

at::Tensor ReferenceDevice::start(const at::Tensor& source, at::Tensor result) {
  poison(result);
  pending_.insert_or_assign(result.unsafeGetTensorImpl(),
                            Transfer{result, c10::weak_intrusive_ptr<c10::TensorImpl>(source.getIntrusivePtr())});
  return result;
}

void ReferenceDevice::wait(const graph::Node& node, Stack& stack) {
  const at::Tensor result = stack[0].toTensor();
  const auto found = pending_.find(result.unsafeGetTensorImpl());
  if (found == pending_.end())
    fail(node, "no pending transfer; every wait needs an ao.offload or ao.reload before it, and one wait each");
  const auto source = found->second.source.lock();
  if (!source) fail(node, "the source of the transfer was freed before the wait; keep it alive by the second argument");
  const at::Tensor from(source);
  result.copy_(from);
  pending_.erase(found);
  if (stack[1].isNone()) return;
  const at::Tensor kept = stack[1].toTensor();
  poison(kept);
  host_->release(kept.storage().data());
}

at::Tensor ReferenceDevice::put(const at::Tensor& source, const c10::Device& device) {
  at::Tensor result = device.is_cpu() ? host_tensor_like(source) : at::empty_like(source);
  return result.copy_(source);
}

void ReferenceDevice::stream_call(const graph::Node& node, const Stack& stack) {
  if (node.target == "streams.record_event.default") recorded_events_.insert(stack[0].toInt());
  const bool waits = node.target == "streams.wait_event.default";
  if (waits && !recorded_events_.contains(stack[0].toInt()))
    fail(node, "event " + std::to_string(stack[0].toInt()) + " wasn't recorded; record it before waiting for it");
}

void ReferenceDevice::call(const graph::Node& node, Stack& stack) {
  if (node.target.starts_with("streams.")) {
    stream_call(node, stack);
    stack.clear();
    return;
  }
  const at::Tensor tensor = stack[0].toTensor();
  at::Tensor result = tensor;
  if (node.target == "ao.offload.default") {
    result = start(tensor, host_tensor_like(tensor));
  } else if (node.target == "ao.reload.default") {
    result = start(tensor, empty_like_device_tensor(stack, tensor));
  } else if (node.target == "ao.wait_tensor.default") {
    wait(node, stack);
  } else if (node.target == "prims.device_put.default") {
    result = put(tensor, stack[1].toDevice());
  } else {
    throw_unsupported(kStage, "node '" + node.name + "': the reference device has no operator " + node.target);
  }
  stack.clear();
  stack.emplace_back(std::move(result));
}

}  // namespace sapwood::interp
