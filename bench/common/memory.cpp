#include "common/memory.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace sapwood::bench {

using Clock = std::chrono::steady_clock;

struct AllocationTracker::Counters {
  mutable std::mutex mutex;
  int64_t live = 0;
  int64_t peak = 0;
  int64_t floor = 0;
  bool recording = false;
  Clock::time_point begin;
  std::vector<LivePoint> timeline;

  void add(int64_t bytes) {
    const std::lock_guard lock(mutex);
    live += bytes;
    peak = std::max(peak, live);
    if (recording) timeline.push_back(point());
  }
  LivePoint point() const {
    return {std::chrono::duration<double, std::milli>(Clock::now() - begin).count(), live - floor};
  }
};

/// What LibTorch calls. In front of every allocation lies a record that returns its bytes to the counters, so that data
/// and context are one pointer, as LibTorch's raw interface demands.
class AllocationTracker::Hook final : public c10::Allocator {
 public:
  Hook(c10::Allocator& base, std::shared_ptr<Counters> counters) : base_(base), counters_(std::move(counters)) {}

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return base_.allocate(0);
    c10::DataPtr inner = base_.allocate(bytes + kRecordBytes);
    const c10::Device device = inner.device();
    auto* begin = static_cast<std::byte*>(inner.get());
    std::construct_at(reinterpret_cast<Record*>(begin), std::move(inner), counters_, static_cast<int64_t>(bytes));
    counters_->add(static_cast<int64_t>(bytes));
    return {begin + kRecordBytes, begin + kRecordBytes, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override { base_.copy_data(to, from, bytes); }

 private:
  struct Record {
    c10::DataPtr inner;
    std::shared_ptr<Counters> counters;
    int64_t bytes;
    Record(c10::DataPtr memory, std::shared_ptr<Counters> owner, int64_t size)
        : inner(std::move(memory)), counters(std::move(owner)), bytes(size) {}
  };
  static constexpr size_t kRecordBytes = 64;  // keeps the data as aligned as LibTorch's own
  static_assert(sizeof(Record) <= kRecordBytes);

  static void release(void* data) {
    if (data == nullptr) return;
    auto* record = reinterpret_cast<Record*>(static_cast<std::byte*>(data) - kRecordBytes);
    record->counters->add(-record->bytes);
    const c10::DataPtr memory = std::move(record->inner);  // freed last, the record lies in it
    std::destroy_at(record);
  }

  c10::Allocator& base_;
  std::shared_ptr<Counters> counters_;
};

namespace {

constexpr uint8_t kHighestPriority = std::numeric_limits<uint8_t>::max();

}  // namespace

AllocationTracker::AllocationTracker()
    : counters_(std::make_shared<Counters>()), hook_(std::make_unique<Hook>(*c10::GetCPUAllocator(), counters_)) {}
AllocationTracker::~AllocationTracker() = default;

AllocationTracker::Scope::Scope(AllocationTracker& tracker) : former_(c10::GetCPUAllocator()) {
  c10::SetCPUAllocator(tracker.hook_.get(), kHighestPriority);
}
AllocationTracker::Scope::~Scope() { c10::SetCPUAllocator(former_, kHighestPriority); }

int64_t AllocationTracker::live_bytes() const {
  const std::lock_guard lock(counters_->mutex);
  return counters_->live;
}

int64_t AllocationTracker::peak_bytes() const {
  const std::lock_guard lock(counters_->mutex);
  return counters_->peak;
}

void AllocationTracker::start(int64_t floor, bool with_timeline) {
  const std::lock_guard lock(counters_->mutex);
  counters_->peak = counters_->live;
  counters_->floor = floor;
  counters_->recording = with_timeline;
  counters_->begin = Clock::now();
  counters_->timeline.clear();
  if (with_timeline) counters_->timeline.push_back(counters_->point());
}

std::vector<LivePoint> AllocationTracker::take_timeline() {
  const std::lock_guard lock(counters_->mutex);
  if (counters_->recording) counters_->timeline.push_back(counters_->point());
  counters_->recording = false;
  return std::exchange(counters_->timeline, {});
}

}  // namespace sapwood::bench
