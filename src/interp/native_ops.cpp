#include "interp/native_ops.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/broadcast_tensors.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace sapwood::interp {
namespace {

using torch::jit::Stack;

void convert_element_type(Stack& stack) {
  const auto dtype = static_cast<c10::ScalarType>(torch::jit::peek(stack, 1, 2).toInt());
  at::Tensor result = torch::jit::peek(stack, 0, 2).toTensor().to(dtype, /*non_blocking=*/false, /*copy=*/true);
  torch::jit::drop(stack, 2);
  stack.emplace_back(std::move(result));
}

void device_put(Stack& stack) {
  constexpr size_t kArguments = 3;
  const c10::Device device = torch::jit::peek(stack, 1, kArguments).toDevice();
  const bool non_blocking = torch::jit::peek(stack, 2, kArguments).toBool();
  const at::Tensor from = torch::jit::peek(stack, 0, kArguments).toTensor();
  at::Tensor result = from.to(from.options().device(device), non_blocking, /*copy=*/true);
  torch::jit::drop(stack, kArguments);
  stack.emplace_back(std::move(result));
}

/// Transfers and streams are run by a `ReferenceDevice`; here they have their schemas only.
void needs_device(Stack&) {
  throw_unsupported("interp",
                    "operators of transfers and streams need a reference device; give one with RunOptions::device");
}

template <typename T>
void fma_contiguous(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, at::Tensor& out) {
  const T* pa = a.const_data_ptr<T>();
  const T* pb = b.const_data_ptr<T>();
  const T* pc = c.const_data_ptr<T>();
  T* po = out.mutable_data_ptr<T>();
  for (int64_t i = 0, n = out.numel(); i < n; ++i) po[i] = std::fma(pa[i], pb[i], pc[i]);
}

/// a * b + c, rounded once.
void fma(Stack& stack) {
  std::array<at::Tensor, 3> in;
  for (size_t i = 0; i < 3; ++i) in[i] = torch::jit::peek(stack, i, 3).toTensor();
  const std::vector<at::Tensor> wide = at::broadcast_tensors({in[0], in[1], in[2]});
  at::Tensor result = at::empty(wide[0].sizes(), wide[0].options());
  const auto type = result.scalar_type();
  if (type == c10::kFloat)
    fma_contiguous<float>(wide[0].contiguous(), wide[1].contiguous(), wide[2].contiguous(), result);
  else if (type == c10::kDouble)
    fma_contiguous<double>(wide[0].contiguous(), wide[1].contiguous(), wide[2].contiguous(), result);
  else
    throw_unsupported(
        "interp", std::string("prims.fma on ") + c10::toString(type) + "; it is implemented for float32 and float64");
  torch::jit::drop(stack, 3);
  stack.emplace_back(std::move(result));
}

void iota(Stack& stack) {
  constexpr size_t kArguments = 6;
  const int64_t length = torch::jit::peek(stack, 0, kArguments).toInt();
  const int64_t start = torch::jit::peek(stack, 1, kArguments).toInt();
  const int64_t step = torch::jit::peek(stack, 2, kArguments).toInt();
  const auto dtype = static_cast<c10::ScalarType>(torch::jit::peek(stack, 3, kArguments).toInt());
  const c10::Device device = torch::jit::peek(stack, 4, kArguments).toDevice();
  at::Tensor result = at::arange(start, start + length * step, step, at::TensorOptions().dtype(dtype).device(device));
  torch::jit::drop(stack, kArguments);
  stack.emplace_back(std::move(result));
}

/// Geometry of a two-dimensional pooling window.
struct Window {
  std::array<int64_t, 2> kernel, stride, padding, dilation;
};

std::array<int64_t, 2> pair(const c10::IValue& value) {
  const std::vector<int64_t> items = value.toIntVector();
  if (items.size() != 2)
    throw_unsupported("interp", "prims._low_memory_max_pool_* with " + std::to_string(items.size()) +
                                    " spatial dimensions; two are implemented");
  return {items[0], items[1]};
}

/// Calls `convert(flat index in the plane, output row, output column)` for every element of the last two dimensions.
template <typename From, typename To, typename Convert>
at::Tensor convert_indices(const at::Tensor& from, c10::ScalarType type, Convert convert) {
  const at::Tensor in = from.contiguous();
  at::Tensor out = at::empty(in.sizes(), in.options().dtype(type));
  const From* source = in.const_data_ptr<From>();
  To* target = out.mutable_data_ptr<To>();
  const int64_t height = in.size(-2);
  const int64_t width = in.size(-1);
  for (int64_t i = 0, n = in.numel(); i < n; ++i)
    target[i] = static_cast<To>(convert(static_cast<int64_t>(source[i]), i / width % height, i % width));
  return out;
}

/// Max pooling that returns, instead of indices into the plane, the position inside each window as int8.
void max_pool_with_offsets(Stack& stack) {
  constexpr size_t kArguments = 6;
  const at::Tensor self = torch::jit::peek(stack, 0, kArguments).toTensor();
  const Window w{pair(torch::jit::peek(stack, 1, kArguments)), pair(torch::jit::peek(stack, 2, kArguments)),
                 pair(torch::jit::peek(stack, 3, kArguments)), pair(torch::jit::peek(stack, 4, kArguments))};
  const bool ceil_mode = torch::jit::peek(stack, 5, kArguments).toBool();
  auto [values, indices] = at::max_pool2d_with_indices(self, w.kernel, w.stride, w.padding, w.dilation, ceil_mode);
  const int64_t width = self.size(-1);
  at::Tensor offsets =
      convert_indices<int64_t, int8_t>(indices, c10::kChar, [&](int64_t index, int64_t row, int64_t column) {
        const int64_t y = (index / width - (row * w.stride[0] - w.padding[0])) / w.dilation[0];
        const int64_t x = (index % width - (column * w.stride[1] - w.padding[1])) / w.dilation[1];
        return y * w.kernel[1] + x;
      });
  torch::jit::drop(stack, kArguments);
  stack.emplace_back(std::move(values));
  stack.emplace_back(std::move(offsets));
}

void max_pool_offsets_to_indices(Stack& stack) {
  constexpr size_t kArguments = 6;
  const at::Tensor offsets = torch::jit::peek(stack, 0, kArguments).toTensor();
  const std::array<int64_t, 2> input = pair(torch::jit::peek(stack, 2, kArguments));
  const Window w{pair(torch::jit::peek(stack, 1, kArguments)), pair(torch::jit::peek(stack, 3, kArguments)),
                 pair(torch::jit::peek(stack, 4, kArguments)), pair(torch::jit::peek(stack, 5, kArguments))};
  at::Tensor indices =
      convert_indices<int8_t, int64_t>(offsets, c10::kLong, [&](int64_t offset, int64_t row, int64_t column) {
        const int64_t y = row * w.stride[0] - w.padding[0] + offset / w.kernel[1] * w.dilation[0];
        const int64_t x = column * w.stride[1] - w.padding[1] + offset % w.kernel[1] * w.dilation[1];
        return y * input[1] + x;
      });
  torch::jit::drop(stack, kArguments);
  stack.emplace_back(std::move(indices));
}

struct Row {
  std::string_view target;
  NativeKernel kernel;
  c10::FunctionSchema schema;
};

const std::vector<Row>& rows() {
  const auto schema = [](const char* text) { return torch::jit::parseSchema(text); };
  static const std::vector<Row> table{
      {"prims.convert_element_type.default", convert_element_type,
       schema("prims::convert_element_type(Tensor a, ScalarType dtype) -> Tensor")},
      {"prims.fma.default", fma, schema("prims::fma(Tensor a, Tensor b, Tensor c) -> Tensor")},
      {"prims.iota.default", iota,
       schema("prims::iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool "
              "requires_grad) -> Tensor")},
      {"prims._low_memory_max_pool_with_offsets.default", max_pool_with_offsets,
       schema("prims::_low_memory_max_pool_with_offsets(Tensor self, SymInt[] kernel_size, SymInt[] stride, SymInt[] "
              "padding, "
              "SymInt[] dilation, bool ceil_mode) -> (Tensor, Tensor)")},
      {"prims._low_memory_max_pool_offsets_to_indices.default", max_pool_offsets_to_indices,
       schema("prims::_low_memory_max_pool_offsets_to_indices(Tensor self, SymInt[] kernel_size, SymInt[] input_size, "
              "SymInt[] stride, SymInt[] padding, SymInt[] dilation) -> Tensor")},
      {"prims.device_put.default", device_put,
       schema("prims::device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor")},
      {"ao.offload.default", needs_device, schema("ao::offload(Tensor tensor) -> Tensor")},
      {"ao.reload.default", needs_device,
       schema("ao::reload(Tensor tensor, Device device, SymInt[]? original_size=None, SymInt[]? original_stride=None) "
              "-> Tensor")},
      {"ao.wait_tensor.default", needs_device,
       schema("ao::wait_tensor(Tensor(a) tensor, Tensor? keepalive=None, Tensor? last_use_of_storage=None) -> "
              "Tensor(a)")},
      {"streams.record_event.default", needs_device,
       schema("streams::record_event(SymInt event_index, SymInt stream_index) -> ()")},
      {"streams.wait_event.default", needs_device,
       schema("streams::wait_event(SymInt event_index, SymInt stream_index) -> ()")},
      {"streams.fork.default", needs_device, schema("streams::fork(SymInt from_index, SymInt to_index) -> ()")},
      {"streams.join.default", needs_device, schema("streams::join(SymInt from_index, SymInt to_index) -> ()")},
      {"streams.wait_stream.default", needs_device,
       schema("streams::wait_stream(SymInt waiting_stream_index, SymInt waited_on_stream_index) -> ()")},
      {"streams.record_stream.default", needs_device,
       schema("streams::record_stream(Tensor tensor, SymInt stream_index) -> ()")},
  };
  return table;
}

}  // namespace

std::optional<Callable> find_native(std::string_view target) {
  constexpr std::array<std::string_view, 3> kNamespaces{"prims.", "ao.", "streams."};
  if (std::ranges::none_of(kNamespaces, [&](std::string_view name) { return target.starts_with(name); }))
    return std::nullopt;
  for (const Row& row : rows())
    if (row.target == target) return Callable(row.schema, row.kernel);
  return std::nullopt;
}

}  // namespace sapwood::interp
