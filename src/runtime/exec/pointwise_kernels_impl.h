// Kernels of the pointwise machine, compiled once per instruction set. Include only from pointwise_kernels_*.cpp, after
// defining SAPWOOD_POINTWISE_FMA to 0 or 1.
#pragma once

#pragma GCC optimize("no-math-errno")  // square roots become instructions

#include <cmath>
#include <type_traits>
#include <utility>

#include "runtime/exec/pointwise_op.h"

/// MKL's square root as libtorch links it; null in a libtorch without MKL, whose square root is exactly rounded.
extern "C" {
__attribute__((weak)) void vmsSqrt(int n, const float* a, float* r, long long mode);
__attribute__((weak)) void vmdSqrt(int n, const double* a, double* r, long long mode);
}

namespace sapwood::exec {
namespace {  // each translation unit has its own, compiled for its own instruction set

/// High accuracy, denormals kept, errors ignored: the mode in which ATen calls MKL.
constexpr long long kVmlMode = 0x2 | 0x140000 | 0x100;

template <typename T>
T fused(T a, T b, T c) {
#if SAPWOOD_POINTWISE_FMA
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <typename T, typename F>
void unary(const PointwiseBlock<T>& block, F f) {
  T* out = block.out;
  const T* a = block.a;
#pragma GCC ivdep
  for (int64_t i = 0; i < block.size; ++i) out[i] = f(a[i]);
}

/// An output may be the same block as an operand (never a shifted one), so the loops have no dependences between
/// iterations.
template <typename T, typename F>
void binary(const PointwiseBlock<T>& block, F f) {
  T* out = block.out;
  const T* a = block.a;
  const T* b = block.b;
  const int64_t n = block.size;
  if (block.a_number && block.b_number) {
    const T value = f(*a, *b);
    for (int64_t i = 0; i < n; ++i) out[i] = value;
  } else if (block.a_number) {
    const T x = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else if (block.b_number) {
    const T y = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  }
}

template <typename T, typename F>
void ternary(const PointwiseBlock<T>& block, F f) {
  T* out = block.out;
  const T* a = block.a;
  const T* b = block.b;
  const T* c = block.c;
#pragma GCC ivdep
  for (int64_t i = 0; i < block.size; ++i) out[i] = f(a[i], b[i], c[i]);
}

template <typename T>
T greater(T a, T b) {
  return a != a ? a : (b != b ? b : (a > b ? a : b));
}
template <typename T>
T lesser(T a, T b) {
  return a != a ? a : (b != b ? b : (a < b ? a : b));
}

template <typename T>
void square_root(const PointwiseBlock<T>& block) {
  if constexpr (std::is_same_v<T, float>) {
    if (vmsSqrt != nullptr) return vmsSqrt(static_cast<int>(block.size), block.a, block.out, kVmlMode);
  } else {
    if (vmdSqrt != nullptr) return vmdSqrt(static_cast<int>(block.size), block.a, block.out, kVmlMode);
  }
  unary(block, [](T a) { return std::sqrt(a); });
}

template <typename T>
void lerp(const PointwiseBlock<T>& block) {
  const T w = block.s;
  if (std::abs(w) < T(0.5)) return binary(block, [w](T a, T b) { return fused<T>(w, b - a, a); });
  const T rest = w - T(1);
  binary(block, [rest](T a, T b) { return fused<T>(rest, b - a, b); });
}

template <typename T, PointwiseOp Op>
void run_op(const PointwiseBlock<T>& block) {
  const T s = block.s;
  const T t = block.t;
  if constexpr (Op == PointwiseOp::kCopy) unary(block, [](T a) { return a; });
  if constexpr (Op == PointwiseOp::kAdd) binary(block, [](T a, T b) { return a + b; });
  if constexpr (Op == PointwiseOp::kAddScaled) binary(block, [s](T a, T b) { return fused<T>(b, s, a); });
  if constexpr (Op == PointwiseOp::kSub) binary(block, [](T a, T b) { return a - b; });
  if constexpr (Op == PointwiseOp::kMul) binary(block, [](T a, T b) { return a * b; });
  if constexpr (Op == PointwiseOp::kDiv) binary(block, [](T a, T b) { return a / b; });
  if constexpr (Op == PointwiseOp::kNeg) unary(block, [](T a) { return -a; });
  if constexpr (Op == PointwiseOp::kAbs) unary(block, [](T a) { return std::abs(a); });
  if constexpr (Op == PointwiseOp::kSqrt) square_root(block);
  if constexpr (Op == PointwiseOp::kRsqrt) unary(block, [](T a) { return T(1) / std::sqrt(a); });
  if constexpr (Op == PointwiseOp::kReciprocal) unary(block, [](T a) { return T(1) / a; });
  if constexpr (Op == PointwiseOp::kSquare) unary(block, [](T a) { return a * a; });
  if constexpr (Op == PointwiseOp::kCube) unary(block, [](T a) { return a * a * a; });
  if constexpr (Op == PointwiseOp::kRelu) unary(block, [](T a) { return a < T(0) ? T(0) : a; });
  if constexpr (Op == PointwiseOp::kClampMin) unary(block, [s](T a) { return a < s ? s : a; });
  if constexpr (Op == PointwiseOp::kClampMax) unary(block, [s](T a) { return a > s ? s : a; });
  if constexpr (Op == PointwiseOp::kClamp)
    unary(block, [s, t](T a) {
      const T low = a < s ? s : a;
      return low > t ? t : low;
    });
  if constexpr (Op == PointwiseOp::kMaximum) binary(block, [](T a, T b) { return greater(a, b); });
  if constexpr (Op == PointwiseOp::kMinimum) binary(block, [](T a, T b) { return lesser(a, b); });
  if constexpr (Op == PointwiseOp::kAddcmul) ternary(block, [s](T a, T b, T c) { return fused<T>(s * b, c, a); });
  if constexpr (Op == PointwiseOp::kAddcdiv) ternary(block, [s](T a, T b, T c) { return a + (s * b) / c; });
  if constexpr (Op == PointwiseOp::kLerp) lerp(block);
  if constexpr (Op == PointwiseOp::kThresholdBackward) binary(block, [s](T a, T b) { return b <= s ? T(0) : a; });
  if constexpr (Op == PointwiseOp::kSigmoidBackward) binary(block, [](T a, T b) { return a * (T(1) - b) * b; });
  if constexpr (Op == PointwiseOp::kScaleAddScaled) binary(block, [s, t](T a, T b) { return fused<T>(b, s, a * t); });
  if constexpr (Op == PointwiseOp::kScaleAddcmul)
    ternary(block, [s, t](T a, T b, T c) { return fused<T>(s * b, c, a * t); });
  if constexpr (Op == PointwiseOp::kStep) {
    const T u = block.u;
    ternary(block, [s, t, u](T a, T b, T c) { return a + (s * b) / (c / t + u); });
  }
  if constexpr (Op == PointwiseOp::kScaleStep) {
    const T u = block.u;
    const T w = block.w;
    ternary(block, [s, t, u, w](T a, T b, T c) { return a * w + (s * b) / (c / t + u); });
  }
  if constexpr (Op == PointwiseOp::kTanhBackward) binary(block, [](T a, T b) { return a * fused<T>(-b, b, T(1)); });
}

template <typename T, size_t... I>
PointwiseKernels<T> make_kernels(std::index_sequence<I...>) {
  return {{run_op<T, static_cast<PointwiseOp>(I)>...}};
}

template <typename T>
const PointwiseKernels<T>& kernels() {
  static const PointwiseKernels<T> table = make_kernels<T>(std::make_index_sequence<kPointwiseOps>{});
  return table;
}

}  // namespace
}  // namespace sapwood::exec
