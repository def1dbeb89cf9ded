#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace sapwood::capture {

/// Hash of a tensor's elements in logical order; layout doesn't matter, every bit of a value does. Never 0 for a
/// defined tensor.
uint64_t value_hash(const at::Tensor& tensor);

}  // namespace sapwood::capture
