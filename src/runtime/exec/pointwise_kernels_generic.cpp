#define SAPWOOD_POINTWISE_FMA 0
#include "runtime/exec/pointwise_kernels_impl.h"

namespace sapwood::exec {

template <>
const PointwiseKernels<float>& generic_kernels<float>() {
  return kernels<float>();
}
template <>
const PointwiseKernels<double>& generic_kernels<double>() {
  return kernels<double>();
}

}  // namespace sapwood::exec
