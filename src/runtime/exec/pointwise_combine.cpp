#include "runtime/exec/pointwise_combine.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/exec/pointwise_exact.h"

namespace sapwood::exec {
namespace {

class Combiner {
 public:
  Combiner(const Program& program, std::vector<ElementaryOp> ops, const std::vector<ValueId>& stored)
      : ops_(std::move(ops)), removed_(ops_.size(), false) {
    is_float_ = program.tensor(ops_.front().result).scalar_type() == c10::kFloat;
    for (size_t i = 0; i < ops_.size(); ++i) {
      producer_[ops_[i].result] = i;
      for (const ElementaryOp::Operand* operand : {&ops_[i].a, &ops_[i].b, &ops_[i].c})
        if (operand->value != kNoValue) ++uses_[operand->value];
    }
    for (const ValueId value : stored) ++uses_[value];
  }

  std::vector<ElementaryOp> run() {
    for (ElementaryOp& op : ops_) combine(op);
    std::vector<ElementaryOp> kept;
    for (size_t i = 0; i < ops_.size(); ++i)
      if (!removed_[i]) kept.push_back(ops_[i]);
    return kept;
  }

 private:
  bool available(PointwiseOp op) const {
    const auto index = static_cast<size_t>(op);
    return is_float_ ? exact_kernels<float>().run[index] != nullptr : exact_kernels<double>().run[index] != nullptr;
  }

  /// The operator that makes `value`, if it is `kind` of a tensor and a number and only one operator reads it.
  const ElementaryOp* by_number(ValueId value, PointwiseOp kind) const {
    const auto it = producer_.find(value);
    if (it == producer_.end() || uses_.at(value) != 1) return nullptr;
    const ElementaryOp& op = ops_[it->second];
    return op.op == kind && op.a.value != kNoValue && op.b.number ? &op : nullptr;
  }

  void remove(const ElementaryOp* op) { removed_[static_cast<size_t>(op - ops_.data())] = true; }

  void combine(ElementaryOp& op) {
    switch (op.op) {
      case PointwiseOp::kAdd:
      case PointwiseOp::kAddScaled:
        if (op.a.value != kNoValue && op.b.value != kNoValue) scale_first(op, PointwiseOp::kScaleAddScaled);
        return;
      case PointwiseOp::kAddcmul:
        return scale_first(op, PointwiseOp::kScaleAddcmul);
      case PointwiseOp::kAddcdiv:
        return step(op);
      default:
        return;
    }
  }

  void scale_first(ElementaryOp& op, PointwiseOp combined) {
    const ElementaryOp* scale = by_number(op.a.value, PointwiseOp::kMul);
    if (scale == nullptr || !available(combined)) return;
    if (!op.s || op.op == PointwiseOp::kAdd) {
      op.s.emplace();
      op.s->value = 1.0;
    }
    op.op = combined;
    op.a = scale->a;
    op.t = scale->b.number;
    remove(scale);
  }

  void step(ElementaryOp& op) {
    const ElementaryOp* shift = by_number(op.c.value, PointwiseOp::kAdd);
    const ElementaryOp* divide = shift != nullptr ? by_number(shift->a.value, PointwiseOp::kDiv) : nullptr;
    if (divide == nullptr || !available(PointwiseOp::kScaleStep) || !available(PointwiseOp::kStep)) return;
    op.op = PointwiseOp::kStep;
    op.c = divide->a;
    op.t = divide->b.number;
    op.u = shift->b.number;
    remove(shift);
    remove(divide);
    const ElementaryOp* scale = by_number(op.a.value, PointwiseOp::kMul);
    if (scale == nullptr) return;
    op.op = PointwiseOp::kScaleStep;
    op.a = scale->a;
    op.w = scale->b.number;
    remove(scale);
  }

  std::vector<ElementaryOp> ops_;
  std::vector<bool> removed_;
  std::unordered_map<ValueId, size_t> producer_;
  std::unordered_map<ValueId, int> uses_;
  bool is_float_ = true;
};

}  // namespace

std::vector<ElementaryOp> combine_updates(const Program& program, std::vector<ElementaryOp> ops,
                                          const std::vector<ValueId>& stored) {
  return Combiner(program, std::move(ops), stored).run();
}

}  // namespace sapwood::exec
