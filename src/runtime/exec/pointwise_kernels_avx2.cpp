#define SAPWOOD_POINTWISE_FMA 1
#include "runtime/exec/pointwise_kernels_impl.h"

namespace sapwood::exec {

template <>
const PointwiseKernels<float>& avx2_kernels<float>() {
  return kernels<float>();
}
template <>
const PointwiseKernels<double>& avx2_kernels<double>() {
  return kernels<double>();
}

}  // namespace sapwood::exec
