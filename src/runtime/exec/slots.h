#pragma once

#include "interp/torch_types.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// A storage of `bytes` bytes without memory, which no kernel can resize.
c10::intrusive_ptr<c10::StorageImpl> make_storage(int64_t bytes);

/// A tensor on `storage` with the given geometry; needs no memory yet. An ordinary tensor: usable with autograd.
at::Tensor make_tensor(const c10::intrusive_ptr<c10::StorageImpl>& storage, const interp::TensorGeometry& geometry,
                       c10::ScalarType type);

/// Adds a region and a value that fills it.
ValueId add_value(Program& program, const interp::TensorGeometry& geometry, c10::ScalarType type);

/// Adds a value with the geometry of `like`, in a region of its own.
ValueId add_value_like(Program& program, ValueId like);

/// Adds a value for `tensor`, which must share the storage of `base`.
ValueId add_view(Program& program, ValueId base, at::Tensor tensor);

/// Whether sizes, strides and dtype agree.
bool same_layout(const at::Tensor& a, const at::Tensor& b);

}  // namespace sapwood::exec
