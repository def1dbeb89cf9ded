#pragma once

#include "runtime/exec/pointwise_op.h"

namespace sapwood::exec {

/// The kernel of each operator that gives ATen's bits on this machine with this libtorch; null where none does. Found
/// by running every kernel against ATen once per process, on the first call. Thread-safe.
template <typename T>
const PointwiseKernels<T>& exact_kernels();

}  // namespace sapwood::exec
