#include <algorithm>
#include <unordered_map>

#include "runtime/exec/pointwise_combine.h"
#include "runtime/exec/pointwise_launch.h"

namespace sapwood::exec {
namespace {

using Place = PointwisePlace;

constexpr size_t kMaxNumbers = 64;

class Compiler {
 public:
  Compiler(const Program& program, std::vector<ElementaryOp> ops, const std::vector<ValueId>& stored)
      : program_(program), ops_(std::move(ops)), stored_(stored) {}

  std::optional<PointwiseProgram> run() {
    const at::Tensor& first = program_.tensor(ops_.front().result);
    out_.type = first.scalar_type();
    out_.size = first.numel();
    find_last_reads();
    for (size_t i = 0; i < ops_.size(); ++i) emit(i);
    for (const auto& [value, place] : late_stores_) {
      PointwiseInstruction store;
      store.a = place;
      store.out = memory(value);
      out_.code.push_back(store);
    }
    if (out_.temporaries > kMaxPointwiseTemporaries || out_.numbers.size() > kMaxNumbers) return std::nullopt;
    return std::move(out_);
  }

 private:
  template <typename Visit>
  static void each_operand(const ElementaryOp& op, Visit visit) {
    for (const ElementaryOp::Operand* operand : {&op.a, &op.b, &op.c})
      if (operand->value != kNoValue) visit(operand->value);
  }

  void find_last_reads() {
    for (size_t i = 0; i < ops_.size(); ++i) each_operand(ops_[i], [&](ValueId value) { last_read_[value] = i; });
  }

  bool is_stored(ValueId value) const { return std::find(stored_.begin(), stored_.end(), value) != stored_.end(); }

  /// Whether storing `value` now would overwrite an operand that a later operator reads.
  bool overwrites_needed(ValueId value, size_t at) const {
    return std::any_of(last_read_.begin(), last_read_.end(), [&](const auto& read) {
      return read.first != value && read.second > at && same_memory(read.first, value);
    });
  }

  /// One takes over the other's memory, or both are in that of one placeholder.
  bool same_memory(ValueId a, ValueId b) const {
    const Region &ra = program_.region(a), &rb = program_.region(b);
    if (ra.placement == Placement::kInput && rb.placement == Placement::kInput) return ra.input == rb.input;
    const RegionId owner_a = ra.owner < 0 ? program_.region_of(a) : ra.owner;
    const RegionId owner_b = rb.owner < 0 ? program_.region_of(b) : rb.owner;
    return owner_a == owner_b;
  }

  Place memory(ValueId value) {
    const auto it = std::find(out_.memory.begin(), out_.memory.end(), value);
    if (it != out_.memory.end()) return {Place::Kind::kMemory, static_cast<int32_t>(it - out_.memory.begin())};
    out_.memory.push_back(value);
    return {Place::Kind::kMemory, static_cast<int32_t>(out_.memory.size()) - 1};
  }

  int32_t number(const PointwiseNumber& number) {
    out_.numbers.push_back(number);
    return static_cast<int32_t>(out_.numbers.size()) - 1;
  }

  Place temporary() {
    if (free_.empty()) return {Place::Kind::kTemporary, out_.temporaries++};
    const int32_t index = free_.back();
    free_.pop_back();
    return {Place::Kind::kTemporary, index};
  }

  Place operand(const ElementaryOp::Operand& operand) {
    if (operand.number) return {Place::Kind::kNumber, number(*operand.number)};
    if (operand.value == kNoValue) return {};
    const auto it = places_.find(operand.value);
    return it != places_.end() ? it->second : memory(operand.value);
  }

  /// Temporaries of operands that this operator reads last are free for its result.
  void release_operands(const ElementaryOp& op, size_t at) {
    each_operand(op, [&](ValueId value) {
      const auto it = places_.find(value);
      if (it == places_.end() || it->second.kind != Place::Kind::kTemporary || last_read_[value] != at ||
          late_stores_.contains(value))
        return;
      free_.push_back(it->second.index);
      places_.erase(it);
    });
  }

  void emit(size_t at) {
    const ElementaryOp& op = ops_[at];
    PointwiseInstruction instruction;
    instruction.op = op.op;
    instruction.a = operand(op.a);
    instruction.b = operand(op.b);
    instruction.c = operand(op.c);
    if (op.s) instruction.s = number(*op.s);
    if (op.t) instruction.t = number(*op.t);
    if (op.u) instruction.u = number(*op.u);
    if (op.w) instruction.w = number(*op.w);
    release_operands(op, at);
    const bool stored = is_stored(op.result);
    const bool late = stored && overwrites_needed(op.result, at);
    instruction.out = stored && !late ? memory(op.result) : temporary();
    places_[op.result] = instruction.out;
    if (late) late_stores_[op.result] = instruction.out;
    out_.code.push_back(instruction);
  }

  const Program& program_;
  const std::vector<ElementaryOp> ops_;
  const std::vector<ValueId>& stored_;
  PointwiseProgram out_;
  std::unordered_map<ValueId, size_t> last_read_;
  std::unordered_map<ValueId, Place> places_;
  std::unordered_map<ValueId, Place> late_stores_;
  std::vector<int32_t> free_;
};

}  // namespace

std::optional<PointwiseProgram> compile_pointwise(const Program& program, const std::vector<ElementaryOp>& ops,
                                                  const std::vector<ValueId>& stored) {
  return Compiler(program, combine_updates(program, ops, stored), stored).run();
}

}  // namespace sapwood::exec
