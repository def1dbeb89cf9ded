#include "runtime/exec/schedule.h"

#include <algorithm>
#include <queue>

#include "base/error.h"
#include "runtime/exec/lifetimes.h"

namespace sapwood::exec {
namespace {

/// Elements of fused updates that are worth a launch: enough to hide its cost, little enough that gradients are still
/// in the cache.
constexpr int64_t kMergedElements = 65536;

/// Whether waiting until `turn` holds less memory than running now: the results that aren't there yet are larger than
/// the operands that must stay.
bool saves_by_waiting(const Program& program, const Call& call, CallId turn, const std::vector<CallId>& last) {
  int64_t kept = 0, spared = 0;
  std::vector<RegionId> counted;
  const auto add = [&](ValueId value, int64_t& sum) {
    if (value == kNoValue || program.region(value).placement != Placement::kOwned) return;
    const RegionId region = program.region_of(value);
    if (std::find(counted.begin(), counted.end(), region) != counted.end()) return;
    counted.push_back(region);
    sum += program.region(value).bytes;
  };
  for (const ValueId value : call.reads)
    if (last[static_cast<size_t>(program.region_of(value))] < turn) add(value, kept);
  for (const ValueId value : call.results) add(value, spared);
  return spared > kept;
}

/// When each call runs, if it can: in its own turn, or directly before the first call that needs it if that saves
/// memory.
std::vector<CallId> find_turns(const Program& program, const CallGraph& order) {
  const std::vector<CallId> last = last_readers(program);
  std::vector<CallId> turns(program.calls.size());
  for (size_t c = program.calls.size(); c-- > 0;) {
    turns[c] = static_cast<CallId>(c);
    const Call& call = program.calls[c];
    if (call.ordered || call.kind == CallKind::kMutate || call.part == StepPart::kOptimizer) continue;
    auto first = static_cast<CallId>(program.calls.size());
    for (const CallId after : order.after[c]) first = std::min(first, turns[static_cast<size_t>(after)]);
    if (first > turns[c] && first < static_cast<CallId>(program.calls.size()) &&
        saves_by_waiting(program, call, first, last))
      turns[c] = first;
  }
  return turns;
}

class Scheduler {
 public:
  Scheduler(Program& program, const CallGraph& order)
      : program_(program), order_(order), missing_(program.calls.size()), turns_(find_turns(program, order)) {}

  void run() {
    for (size_t c = 0; c < program_.calls.size(); ++c) missing_[c] = order_.before[c].size();
    for (size_t c = 0; c < program_.calls.size(); ++c)
      if (missing_[c] == 0) make_ready(static_cast<CallId>(c));
    while (!updates_.empty() || !others_.empty() || !waiting_.empty()) step();
    if (done_ != program_.calls.size())
      throw_internal("exec", "the calls of the step depend on each other in a circle");
    program_.calls = std::move(scheduled_);
  }

 private:
  using Turn = std::pair<CallId, CallId>;  ///< whose turn it takes, and the call itself
  using Queue = std::priority_queue<Turn, std::vector<Turn>, std::greater<>>;

  const Call& call(CallId id) const { return program_.calls[static_cast<size_t>(id)]; }

  void step() {
    if (!updates_.empty()) return emit({take(updates_)});
    if (waiting_elements_ >= kMergedElements || others_.empty()) {
      if (!waiting_.empty()) return flush();
    }
    emit({take(others_)});
  }

  static CallId take(Queue& queue) {
    const CallId id = queue.top().second;
    queue.pop();
    return id;
  }

  void make_ready(CallId id) {
    if (call(id).part != StepPart::kOptimizer) return others_.push({turns_[static_cast<size_t>(id)], id});
    if (call(id).kind != CallKind::kPointwise) return updates_.push({id, id});
    waiting_.push_back(id);
    waiting_elements_ += program_.tensor(call(id).elementary.front().result).numel();
  }

  void flush() {
    std::vector<CallId> group;
    std::swap(group, waiting_);
    waiting_elements_ = 0;
    emit(group);
  }

  /// Emits one call, or several fused programs as one.
  void emit(const std::vector<CallId>& group) {
    Call merged = call(group.front());
    for (size_t i = 1; i < group.size(); ++i) append(merged, call(group[i]));
    scheduled_.push_back(std::move(merged));
    done_ += group.size();
    for (const CallId id : group)
      for (const CallId next : order_.after[static_cast<size_t>(id)])
        if (--missing_[static_cast<size_t>(next)] == 0) make_ready(next);
  }

  static void append(Call& merged, const Call& other) {
    if (merged.merged.empty()) merged.merged.push_back({merged.elementary, merged.results});
    merged.merged.push_back({other.elementary, other.results});
    merged.reads.insert(merged.reads.end(), other.reads.begin(), other.reads.end());
    merged.results.insert(merged.results.end(), other.results.begin(), other.results.end());
  }

  Program& program_;
  const CallGraph& order_;
  std::vector<size_t> missing_;  ///< per call: how many others it still waits for
  std::vector<CallId> turns_;    ///< per call, see find_turns
  Queue updates_, others_;
  std::vector<CallId> waiting_;  ///< fused updates that can run
  int64_t waiting_elements_ = 0;
  std::vector<Call> scheduled_;
  size_t done_ = 0;
};

}  // namespace

void schedule_calls(Program& program, const CallGraph& order) { Scheduler(program, order).run(); }

}  // namespace sapwood::exec
