#pragma once

#include <cstddef>
#include <cstdint>

namespace sapwood::exec {

/// Elementwise operators whose ATen kernels can be repeated bit for bit: every step is exactly rounded, or is the same
/// library routine. a, b, c are operands, s, t, u, w numbers. "fma" is one rounding where ATen's vector kernels have
/// one.
enum class PointwiseOp : uint8_t {
  kCopy,               ///< a
  kAdd,                ///< a + b
  kAddScaled,          ///< fma(b, s, a)
  kSub,                ///< a - b
  kMul,                ///< a * b
  kDiv,                ///< a / b
  kNeg,                ///< -a
  kAbs,                ///< |a|
  kSqrt,               ///< ATen's square root (MKL's, which isn't exactly rounded)
  kRsqrt,              ///< 1 / sqrt(a), both exactly rounded
  kReciprocal,         ///< 1 / a
  kSquare,             ///< a * a
  kCube,               ///< a * a * a
  kRelu,               ///< max(a, 0), NaN stays
  kClampMin,           ///< max(a, s), NaN stays
  kClampMax,           ///< min(a, s), NaN stays
  kClamp,              ///< min(max(a, s), t), NaN stays
  kMaximum,            ///< max(a, b), NaN wins
  kMinimum,            ///< min(a, b), NaN wins
  kAddcmul,            ///< fma(s * b, c, a)
  kAddcdiv,            ///< a + (s * b) / c
  kLerp,               ///< |s| < 0.5: fma(s, b - a, a), else fma(s - 1, b - a, b)
  kThresholdBackward,  ///< b <= s ? 0 : a
  kSigmoidBackward,    ///< a * (1 - b) * b
  kTanhBackward,       ///< a * fma(-b, b, 1)
  // Several of the above in one pass, for optimizers. Made by `combine_updates` only.
  kScaleAddScaled,  ///< kAddScaled(a * t, b, s)
  kScaleAddcmul,    ///< kAddcmul(a * t, b, c, s)
  kStep,            ///< kAddcdiv(a, b, c / t + u, s)
  kScaleStep,       ///< kAddcdiv(a * w, b, c / t + u, s)
  kCount,
};

inline constexpr PointwiseOp kFirstCombined = PointwiseOp::kScaleAddScaled;

inline constexpr size_t kPointwiseOps = static_cast<size_t>(PointwiseOp::kCount);

/// How many of a, b, c the operator reads.
constexpr int operand_count(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kAddcmul:
    case PointwiseOp::kAddcdiv:
    case PointwiseOp::kScaleAddcmul:
    case PointwiseOp::kStep:
    case PointwiseOp::kScaleStep:
      return 3;
    case PointwiseOp::kAdd:
    case PointwiseOp::kAddScaled:
    case PointwiseOp::kSub:
    case PointwiseOp::kMul:
    case PointwiseOp::kDiv:
    case PointwiseOp::kMaximum:
    case PointwiseOp::kMinimum:
    case PointwiseOp::kLerp:
    case PointwiseOp::kThresholdBackward:
    case PointwiseOp::kSigmoidBackward:
    case PointwiseOp::kTanhBackward:
    case PointwiseOp::kScaleAddScaled:
      return 2;
    default:
      return 1;
  }
}

/// Whether an operand may be one number for all elements. With others ATen's loops take what doesn't change out of the
/// loop, and round it apart.
constexpr bool takes_numbers(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::kAdd:
    case PointwiseOp::kSub:
    case PointwiseOp::kMul:
    case PointwiseOp::kDiv:
    case PointwiseOp::kMaximum:
    case PointwiseOp::kMinimum:
      return true;
    default:
      return false;
  }
}

/// Arguments of one operator on one block. An operand whose `*_number` is set is one number for the whole block.
template <typename T>
struct PointwiseBlock {
  T* out = nullptr;
  const T* a = nullptr;
  const T* b = nullptr;
  const T* c = nullptr;
  bool a_number = false, b_number = false, c_number = false;
  T s = 0, t = 0, u = 0, w = 0;
  int64_t size = 0;
};

template <typename T>
using PointwiseKernel = void (*)(const PointwiseBlock<T>&);

/// One kernel per operator, for one instruction set.
template <typename T>
struct PointwiseKernels {
  PointwiseKernel<T> run[kPointwiseOps] = {};
};

/// Kernels for any processor, without fused multiply-add, and for AVX2 with FMA. Calling the latter's on a processor
/// without them is undefined.
template <typename T>
const PointwiseKernels<T>& generic_kernels();
template <typename T>
const PointwiseKernels<T>& avx2_kernels();

}  // namespace sapwood::exec
