#include "runtime/exec/lifetimes.h"

#include <algorithm>
#include <numeric>

#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

class Reuse {
 public:
  Reuse(const Program& program, const std::vector<bool>& movable, std::vector<Lifetime>& lives)
      : program_(program), movable_(movable), lives_(lives), owner_(program.regions.size()) {
    std::iota(owner_.begin(), owner_.end(), RegionId{0});
  }

  std::vector<RegionId> run() {
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (program_.calls[c].elementwise && program_.calls[c].kind != CallKind::kFunctional &&
          program_.calls[c].merged.empty())
        visit(static_cast<CallId>(c), program_.calls[c]);
    return std::move(owner_);
  }

 private:
  void visit(CallId id, const Call& call) {
    std::vector<RegionId> taken;
    for (const ValueId result : call.results) {
      if (result == kNoValue || !movable_[static_cast<size_t>(program_.region_of(result))] ||
          lives_[static_cast<size_t>(program_.region_of(result))].first != id)
        continue;
      for (const ValueId operand : call.reads) {
        const RegionId from = owner_[static_cast<size_t>(program_.region_of(operand))];
        if (std::find(taken.begin(), taken.end(), from) != taken.end() || !can_take(id, call, operand, result))
          continue;
        taken.push_back(from);
        take(from, program_.region_of(result));
        break;
      }
    }
  }

  bool can_take(CallId id, const Call& call, ValueId operand, ValueId result) const {
    const RegionId region = program_.region_of(operand);
    const RegionId from = owner_[static_cast<size_t>(region)];
    if (!movable_[static_cast<size_t>(region)] || lives_[static_cast<size_t>(from)].last != id) return false;
    if (!same_layout(program_.tensor(operand), program_.tensor(result)) ||
        program_.tensor(operand).storage_offset() != program_.tensor(result).storage_offset())
      return false;
    if (program_.region(operand).bytes != program_.region(result).bytes) return false;
    return std::all_of(call.reads.begin(), call.reads.end(),
                       [&](ValueId other) { return other == operand || program_.region_of(other) != region; });
  }

  void take(RegionId from, RegionId to) {
    owner_[static_cast<size_t>(to)] = from;
    lives_[static_cast<size_t>(from)].last = lives_[static_cast<size_t>(to)].last;
  }

  const Program& program_;
  const std::vector<bool>& movable_;
  std::vector<Lifetime>& lives_;
  std::vector<RegionId> owner_;
};

}  // namespace

std::vector<Lifetime> find_lifetimes(const Program& program) {
  std::vector<Lifetime> result(program.regions.size());
  for (size_t c = 0; c < program.calls.size(); ++c) {
    const auto touch = [&](const std::vector<ValueId>& values) {
      for (const ValueId value : values) {
        if (value == kNoValue) continue;
        Lifetime& life = result[static_cast<size_t>(program.region_of(value))];
        if (life.first < 0) life.first = static_cast<CallId>(c);
        life.last = static_cast<CallId>(c);
      }
    };
    touch(program.calls[c].results);
    touch(program.calls[c].reads);
    touch(program.calls[c].mutated);
  }
  return result;
}

std::vector<CallId> last_readers(const Program& program) {
  const auto never = static_cast<CallId>(program.calls.size());
  std::vector<CallId> last(program.regions.size(), -1);
  for (size_t c = 0; c < program.calls.size(); ++c)
    for (const ValueId value : program.calls[c].reads)
      last[static_cast<size_t>(program.region_of(value))] = static_cast<CallId>(c);
  for (const OutputBinding& output : program.outputs)
    if (output.value != kNoValue) last[static_cast<size_t>(program.region_of(output.value))] = never;
  for (size_t r = 0; r < program.regions.size(); ++r)
    if (program.regions[r].placement != Placement::kOwned) last[r] = never;
  return last;
}

std::vector<RegionId> reuse_dying_operands(const Program& program, const std::vector<bool>& movable,
                                           std::vector<Lifetime>& lives) {
  return Reuse(program, movable, lives).run();
}

}  // namespace sapwood::exec
