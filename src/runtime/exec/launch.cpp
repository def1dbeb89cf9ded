#include "runtime/exec/launch.h"

#include <ATen/ScalarOps.h>
#include <ATen/ops/copy.h>
#include <c10/core/CPUAllocator.h>

#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

using c10::IValue;

constexpr c10::DispatchKeySet kCpu(c10::DispatchKey::CPU);

void allocate(c10::StorageImpl& storage, size_t bytes) {
  storage.set_data_ptr_noswap(c10::GetCPUAllocator()->allocate(bytes));
}

/// Some kernels reduce in the memory of a larger result; more than this isn't kept for the rest.
constexpr size_t kMostSpareBytes = 4096;

/// The slot takes over the memory of a fresh result; a result that something else refers to, that is laid out
/// differently or that has much more memory than it needs is copied.
void adopt(const at::Tensor& slot, at::Tensor& result) {
  c10::StorageImpl& to = *slot.storage().unsafeGetStorageImpl();
  c10::StorageImpl& from = *result.storage().unsafeGetStorageImpl();
  const bool sole_owner = result.use_count() == 1 && result.storage().use_count() == 1;
  if (sole_owner && same_layout(slot, result) && slot.storage_offset() == result.storage_offset() &&
      from.nbytes() >= to.nbytes() && from.nbytes() <= to.nbytes() + kMostSpareBytes) {
    to.set_data_ptr_noswap(std::move(from.mutable_data_ptr()));
    return;
  }
  allocate(to, to.nbytes());
  slot.copy_(result);
}

void adopt_all(const Launch& launch, torch::jit::Stack& returned) {
  size_t next = 0;
  const auto take = [&](at::Tensor tensor) {
    const at::Tensor& slot = launch.results[next++];
    if (slot.defined()) adopt(slot, tensor);
  };
  for (IValue& value : returned) {
    if (value.isTensor())
      take(std::move(value).toTensor());
    else
      for (at::Tensor& tensor : std::move(value).toTensorVector()) take(std::move(tensor));
  }
}

void patch(const Launch& launch, std::span<const IValue> inputs, torch::jit::Stack& stack) {
  for (const ScalarPatch& scalar : launch.scalars) {
    const at::Scalar number = inputs[static_cast<size_t>(scalar.input)].toScalar();
    if (scalar.as_tensor)
      stack[scalar.argument] = at::native::wrapped_scalar_tensor(number);
    else
      stack[scalar.argument] = number;
  }
}

void call_kernel(const Launch& launch, torch::jit::Stack& stack) {
  const interp::Callable& callable = *launch.callable;
  if (callable.op() == nullptr) return callable.native()(stack);
  if (launch.full_dispatch) return callable.op()->callBoxed(stack);
  callable.op()->redispatchBoxed(kCpu, &stack);
}

void run_operator(const Launch& launch, std::span<const IValue> inputs, torch::jit::Stack& stack) {
  stack = launch.stack;
  patch(launch, inputs, stack);
  call_kernel(launch, stack);
  if (launch.kind == CallKind::kFunctional) adopt_all(launch, stack);
  stack.clear();
}

void run_unchecked(const Launch& launch, std::span<const IValue> inputs, torch::jit::Stack& stack) {
  for (const Launch::Allocation& allocation : launch.allocations) allocate(*allocation.storage, allocation.bytes);
  for (const Launch::Share& share : launch.shares)
    share.to->set_data_ptr_noswap(at::DataPtr(share.from->mutable_data(), c10::kCPU));
  if (launch.pointwise)
    launch.pointwise->run(inputs);
  else
    run_operator(launch, inputs, stack);
  for (c10::StorageImpl* storage : launch.releases) storage->set_data_ptr_noswap(at::DataPtr(nullptr, c10::kCPU));
}

}  // namespace

void run_launch(const Launch& launch, std::span<const IValue> inputs, torch::jit::Stack& stack) {
  try {
    run_unchecked(launch, inputs, stack);
  } catch (c10::Error& error) {  // stays of the type that eager throws
    stack.clear();
    error.add_context("in a compiled step, at node '" + launch.name + "'");
    throw;
  }
}

}  // namespace sapwood::exec
