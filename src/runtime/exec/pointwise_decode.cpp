#include "runtime/exec/pointwise_decode.h"

#include <ATen/core/Tensor.h>

#include <utility>

namespace sapwood::exec {
namespace {

using c10::IValue;

/// Which operator a target is, and which of its arguments are which operands and numbers (-1: none).
struct Row {
  std::string_view target;
  PointwiseOp op;
  int a = 0, b = -1, c = -1, s = -1, t = -1;
};

constexpr Row kRows[] = {
    {"aten.add.Tensor", PointwiseOp::kAddScaled, 0, 1, -1, 2, -1},
    {"aten.add.Scalar", PointwiseOp::kAddScaled, 0, 1, -1, 2, -1},
    {"aten.sub.Tensor", PointwiseOp::kSub, 0, 1, -1, 2, -1},
    {"aten.sub.Scalar", PointwiseOp::kSub, 0, 1, -1, 2, -1},
    {"aten.rsub.Tensor", PointwiseOp::kSub, 1, 0, -1, 2, -1},
    {"aten.rsub.Scalar", PointwiseOp::kSub, 1, 0, -1, 2, -1},
    {"aten.mul.Tensor", PointwiseOp::kMul, 0, 1},
    {"aten.mul.Scalar", PointwiseOp::kMul, 0, 1},
    {"aten.div.Tensor", PointwiseOp::kDiv, 0, 1},
    {"aten.div.Scalar", PointwiseOp::kDiv, 0, 1},
    {"aten.neg.default", PointwiseOp::kNeg},
    {"aten.abs.default", PointwiseOp::kAbs},
    {"aten.sqrt.default", PointwiseOp::kSqrt},
    {"aten.rsqrt.default", PointwiseOp::kRsqrt},
    {"aten.reciprocal.default", PointwiseOp::kReciprocal},
    {"aten.pow.Tensor_Scalar", PointwiseOp::kSquare, 0, -1, -1, 1, -1},
    {"aten.relu.default", PointwiseOp::kRelu},
    {"aten.clamp.default", PointwiseOp::kClamp, 0, -1, -1, 1, 2},
    {"aten.clamp_min.default", PointwiseOp::kClampMin, 0, -1, -1, 1, -1},
    {"aten.clamp_max.default", PointwiseOp::kClampMax, 0, -1, -1, 1, -1},
    {"aten.hardtanh.default", PointwiseOp::kClamp, 0, -1, -1, 1, 2},
    {"aten.maximum.default", PointwiseOp::kMaximum, 0, 1},
    {"aten.minimum.default", PointwiseOp::kMinimum, 0, 1},
    {"aten.addcmul.default", PointwiseOp::kAddcmul, 0, 1, 2, 3, -1},
    {"aten.addcdiv.default", PointwiseOp::kAddcdiv, 0, 1, 2, 3, -1},
    {"aten.lerp.Scalar", PointwiseOp::kLerp, 0, 1, -1, 2, -1},
    {"aten.threshold_backward.default", PointwiseOp::kThresholdBackward, 0, 1, -1, 2, -1},
    {"aten.sigmoid_backward.default", PointwiseOp::kSigmoidBackward, 0, 1},
    {"aten.tanh_backward.default", PointwiseOp::kTanhBackward, 0, 1},
};

/// Same sizes and the same place for every element.
bool same_elements(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return false;
  for (int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) != 1 && a.stride(d) != b.stride(d)) return false;
  return true;
}

/// All elements are one and the same in memory: a number, or a number expanded.
bool is_one_element(const at::Tensor& tensor) {
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) != 1 && tensor.stride(d) != 0) return false;
  return true;
}

class Decoder {
 public:
  Decoder(const DecodeContext& context, ValueId result) : context_(context), result_(context.program.tensor(result)) {}

  std::optional<ElementaryOp> decode(const Row& row, ValueId result) {
    op_ = row.op;
    ElementaryOp op;
    op.op = row.op;
    op.result = result;
    bool good = operand(row.a, op.a) && operand(row.b, op.b) && operand(row.c, op.c) && number(row.s, op.s) &&
                number(row.t, op.t);
    good = good && specialise(row, op) && has_tensor(op);
    return good ? std::optional(op) : std::nullopt;
  }

 private:
  const ScalarPatch* patch(int argument) const {
    for (const ScalarPatch& scalar : context_.scalars)
      if (scalar.argument == static_cast<size_t>(argument)) return &scalar;
    return nullptr;
  }

  bool number(int argument, std::optional<PointwiseNumber>& number) const {
    if (argument < 0) return true;
    if (const ScalarPatch* scalar = patch(argument)) {
      number.emplace();
      number->kind = PointwiseNumber::Kind::kInput;
      number->input = scalar->input;
      return true;
    }
    const IValue& value = context_.arguments[static_cast<size_t>(argument)];
    if (value.isNone()) return true;
    if (!value.isDouble() && !value.isInt()) return false;
    number.emplace();
    number->value = value.toScalar().toDouble();
    return true;
  }

  bool operand(int argument, ElementaryOp::Operand& operand) const {
    if (argument < 0) return true;
    const IValue& value = context_.arguments[static_cast<size_t>(argument)];
    if (patch(argument) != nullptr || !value.isTensor())
      return number(argument, operand.number) && operand.number.has_value();
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined() || tensor.is_complex()) return false;
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
      operand.number.emplace();
      operand.number->value = tensor.item().toDouble();
      return true;
    }
    const auto it = context_.values.find(tensor.unsafeGetTensorImpl());
    if (it == context_.values.end() || tensor.scalar_type() != result_.scalar_type()) return false;
    if (same_elements(tensor, result_)) {
      const auto uniform = context_.uniform.find(it->second);
      if (uniform != context_.uniform.end() && takes_numbers(op_)) {
        operand.number.emplace();
        operand.number->value = uniform->second;
      } else {
        operand.value = it->second;
      }
      return true;
    }
    if (!is_one_element(tensor)) return false;
    operand.number.emplace();
    operand.number->kind = PointwiseNumber::Kind::kTensor;
    operand.number->tensor = it->second;
    return true;
  }

  /// Picks the operator that the numbers call for.
  static bool specialise(const Row& row, ElementaryOp& op) {
    const auto is = [&](double value) {
      return op.s && op.s->kind == PointwiseNumber::Kind::kConstant && op.s->value == value;
    };
    switch (row.op) {
      case PointwiseOp::kAddScaled:
        if (is(1.0)) op.op = PointwiseOp::kAdd;
        return op.op == PointwiseOp::kAdd || row.target != "aten.add.Scalar";
      case PointwiseOp::kSub:
        if (is(1.0)) return true;
        op.op = PointwiseOp::kAddScaled;
        op.s->negated = true;
        return true;
      case PointwiseOp::kMul:
        if (op.a.number) std::swap(op.a, op.b);  // the same product; later stages look for numbers in b
        return true;
      case PointwiseOp::kSquare:
        if (is(3.0)) op.op = PointwiseOp::kCube;
        return is(2.0) || is(3.0);
      case PointwiseOp::kClamp:
        if (!op.t)
          op.op = PointwiseOp::kClampMin;
        else if (!op.s) {
          op.op = PointwiseOp::kClampMax;
          op.s = op.t;
        }
        return op.s.has_value();
      case PointwiseOp::kClampMin:
      case PointwiseOp::kClampMax:
        return op.s.has_value();
      default:
        return true;
    }
  }

  /// At least one operand is a tensor, and all are where the operator wants it.
  static bool has_tensor(const ElementaryOp& op) {
    const bool numbers = op.a.number || op.b.number || op.c.number;
    if (numbers && !takes_numbers(op.op)) return false;
    return op.a.value != kNoValue || op.b.value != kNoValue;
  }

  const DecodeContext& context_;
  const at::Tensor& result_;
  PointwiseOp op_ = PointwiseOp::kCopy;
};

}  // namespace

std::optional<ElementaryOp> decode_pointwise(const DecodeContext& context, ValueId result) {
  const at::Tensor& tensor = context.program.tensor(result);
  if (tensor.scalar_type() != c10::kFloat && tensor.scalar_type() != c10::kDouble) return std::nullopt;
  if (tensor.numel() == 0 || !tensor.is_non_overlapping_and_dense()) return std::nullopt;
  for (const Row& row : kRows)
    if (row.target == context.target) return Decoder(context, result).decode(row, result);
  return std::nullopt;
}

}  // namespace sapwood::exec
