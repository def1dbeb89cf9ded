#include "runtime/exec/pointwise_exact.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace sapwood::exec {
namespace {

constexpr int64_t kProbeSize = 509;  // vector bodies and a tail

template <typename T>
bool same_bits(const at::Tensor& expected, const std::vector<T>& got) {
  const T* e = expected.const_data_ptr<T>();
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(e[i]) && std::isnan(got[i])) continue;
    if (std::memcmp(&e[i], &got[i], sizeof(T)) != 0) return false;
  }
  return true;
}

/// Numbers of many magnitudes, with zeros, infinities, NaN and denormals among them.
template <typename T>
at::Tensor probe_values(uint32_t seed) {
  std::mt19937 random(seed);
  at::Tensor tensor = at::empty({kProbeSize}, c10::CppTypeToScalarType<T>::value);
  T* data = tensor.mutable_data_ptr<T>();
  std::normal_distribution<T> normal;
  using Limits = std::numeric_limits<T>;
  const T special[] = {T(0),
                       -T(0),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::denorm_min(),
                       Limits::min() / 3,
                       Limits::max()};
  for (int64_t i = 0; i < kProbeSize; ++i)
    data[i] = random() % 16 == 0 ? special[random() % std::size(special)]
                                 : normal(random) * std::ldexp(T(1), static_cast<int>(random() % 9) - 4);
  return tensor;
}

struct ProbeArguments {
  at::Tensor a, b, c;
  double s = 0, t = 0;
};

at::Tensor by_aten(PointwiseOp op, const ProbeArguments& x) {
  switch (op) {
    case PointwiseOp::kCopy:
      return x.a.clone();
    case PointwiseOp::kAdd:
      return at::add(x.a, x.b);
    case PointwiseOp::kAddScaled:
      return at::add(x.a, x.b, x.s);
    case PointwiseOp::kSub:
      return at::sub(x.a, x.b);
    case PointwiseOp::kMul:
      return at::mul(x.a, x.b);
    case PointwiseOp::kDiv:
      return at::div(x.a, x.b);
    case PointwiseOp::kNeg:
      return at::neg(x.a);
    case PointwiseOp::kAbs:
      return at::abs(x.a);
    case PointwiseOp::kSqrt:
      return at::sqrt(x.a);
    case PointwiseOp::kRsqrt:
      return at::rsqrt(x.a);
    case PointwiseOp::kReciprocal:
      return at::reciprocal(x.a);
    case PointwiseOp::kSquare:
      return at::pow(x.a, 2);
    case PointwiseOp::kCube:
      return at::pow(x.a, 3);
    case PointwiseOp::kRelu:
      return at::relu(x.a);
    case PointwiseOp::kClampMin:
      return at::clamp_min(x.a, x.s);
    case PointwiseOp::kClampMax:
      return at::clamp_max(x.a, x.s);
    case PointwiseOp::kClamp:
      return at::clamp(x.a, x.s, x.t);
    case PointwiseOp::kMaximum:
      return at::maximum(x.a, x.b);
    case PointwiseOp::kMinimum:
      return at::minimum(x.a, x.b);
    case PointwiseOp::kAddcmul:
      return at::addcmul(x.a, x.b, x.c, x.s);
    case PointwiseOp::kAddcdiv:
      return at::addcdiv(x.a, x.b, x.c, x.s);
    case PointwiseOp::kLerp:
      return at::lerp(x.a, x.b, x.s);
    case PointwiseOp::kThresholdBackward:
      return at::threshold_backward(x.a, x.b, x.s);
    case PointwiseOp::kSigmoidBackward:
      return at::sigmoid_backward(x.a, x.b);
    case PointwiseOp::kTanhBackward:
      return at::tanh_backward(x.a, x.b);
    default:
      return {};  // combined operators are as exact as their parts
  }
}

template <typename T>
std::vector<T> by_kernel(PointwiseKernel<T> kernel, const ProbeArguments& x) {
  std::vector<T> out(static_cast<size_t>(kProbeSize));
  PointwiseBlock<T> block;
  block.out = out.data();
  const auto set = [](const at::Tensor& tensor, const T*& pointer, bool& number) {
    pointer = tensor.const_data_ptr<T>();
    number = tensor.numel() == 1;
  };
  set(x.a, block.a, block.a_number);
  set(x.b, block.b, block.b_number);
  set(x.c, block.c, block.c_number);
  block.s = static_cast<T>(x.s);
  block.t = static_cast<T>(x.t);
  block.size = kProbeSize;
  kernel(block);
  return out;
}

/// Whether the kernel agrees with ATen on tensors, and on numbers in the place of tensors where it takes them.
template <typename T>
bool agrees(PointwiseOp op, PointwiseKernel<T> kernel) {
  const at::Tensor values[] = {probe_values<T>(1), probe_values<T>(2), probe_values<T>(3)};
  for (const auto& [s, t] : {std::pair{0.12345678901, 0.7}, {-0.0003, 0.25}, {0.9, 1.0}, {0.75, 2.0}}) {
    const ProbeArguments tensors{values[0], values[1], values[2], s, t};
    if (!same_bits(by_aten(op, tensors), by_kernel(kernel, tensors))) return false;
    if (!takes_numbers(op)) continue;
    const at::Tensor number = at::scalar_tensor(s, values[0].options());
    for (const ProbeArguments& x :
         {ProbeArguments{values[0], number, values[2], s, t}, ProbeArguments{number, values[1], values[2], s, t}})
      if (!same_bits(by_aten(op, x), by_kernel(kernel, x))) return false;
  }
  return true;
}

/// A combined operator repeats the arithmetic of its parts, so it is exact where the same instruction set's kernels of
/// all parts are.
template <typename T>
void add_combined(const PointwiseKernels<T>& kernels, PointwiseKernels<T>& exact) {
  using enum PointwiseOp;
  const auto add = [&](PointwiseOp op, std::initializer_list<PointwiseOp> parts) {
    const auto same = [&](PointwiseOp part) {
      return exact.run[static_cast<size_t>(part)] == kernels.run[static_cast<size_t>(part)];
    };
    PointwiseKernel<T>& place = exact.run[static_cast<size_t>(op)];
    if (place == nullptr && std::all_of(parts.begin(), parts.end(), same)) place = kernels.run[static_cast<size_t>(op)];
  };
  add(kScaleAddScaled, {kMul, kAddScaled});
  add(kScaleAddcmul, {kMul, kAddcmul});
  add(kStep, {kDiv, kAdd, kAddcdiv});
  add(kScaleStep, {kMul, kDiv, kAdd, kAddcdiv});
}

template <typename T>
PointwiseKernels<T> probe() {
  std::vector<const PointwiseKernels<T>*> candidates;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) candidates.push_back(&avx2_kernels<T>());
  candidates.push_back(&generic_kernels<T>());
  PointwiseKernels<T> exact;
  for (size_t op = 0; op < static_cast<size_t>(kFirstCombined); ++op)
    for (const PointwiseKernels<T>* kernels : candidates)
      if (exact.run[op] == nullptr && agrees<T>(static_cast<PointwiseOp>(op), kernels->run[op]))
        exact.run[op] = kernels->run[op];
  for (const PointwiseKernels<T>* kernels : candidates) add_combined(*kernels, exact);
  return exact;
}

}  // namespace

template <>
const PointwiseKernels<float>& exact_kernels<float>() {
  static const PointwiseKernels<float> kernels = probe<float>();
  return kernels;
}

template <>
const PointwiseKernels<double>& exact_kernels<double>() {
  static const PointwiseKernels<double> kernels = probe<double>();
  return kernels;
}

}  // namespace sapwood::exec
