#include "runtime/exec/slots.h"

#include <ATen/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>

namespace sapwood::exec {

c10::intrusive_ptr<c10::StorageImpl> make_storage(int64_t bytes) {
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                               at::DataPtr(nullptr, c10::kCPU), c10::GetCPUAllocator(),
                                               /*resizable=*/false);
}

at::Tensor make_tensor(const c10::intrusive_ptr<c10::StorageImpl>& storage, const interp::TensorGeometry& geometry,
                       c10::ScalarType type) {
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(geometry.sizes, geometry.strides, geometry.offset);
  return tensor;
}

ValueId add_value(Program& program, const interp::TensorGeometry& geometry, c10::ScalarType type) {
  Region region;
  region.bytes = geometry.extent() * static_cast<int64_t>(c10::elementSize(type));
  region.storage = make_storage(region.bytes);
  Value value;
  value.tensor = make_tensor(region.storage, geometry, type);
  value.region = static_cast<RegionId>(program.regions.size());
  program.regions.push_back(std::move(region));
  program.values.push_back(std::move(value));
  return static_cast<ValueId>(program.values.size()) - 1;
}

ValueId add_value_like(Program& program, ValueId like) {
  const at::Tensor& tensor = program.tensor(like);
  const interp::TensorGeometry geometry{.sizes = tensor.sizes().vec(), .strides = tensor.strides().vec(), .offset = 0};
  return add_value(program, geometry, tensor.scalar_type());
}

ValueId add_view(Program& program, ValueId base, at::Tensor tensor) {
  const RegionId region = program.region_of(base);
  program.values.push_back({.tensor = std::move(tensor), .region = region, .view = true});
  return static_cast<ValueId>(program.values.size()) - 1;
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

}  // namespace sapwood::exec
