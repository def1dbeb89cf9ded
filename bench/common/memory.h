#pragma once

#include <c10/core/Allocator.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sapwood::bench {

/// Live bytes at a moment.
struct LivePoint {
  double ms = 0;      ///< since the recording began
  int64_t bytes = 0;  ///< live, over the floor given to `start`
};

/// Counts the bytes of CPU tensors of the whole process: an allocator around LibTorch's own.
///
/// Only memory that is allocated while a `Scope` is open is counted, so that timed runs pay nothing; such memory may be
/// freed at any later time, also after the tracker is gone. Thread-safe, except that one Scope may be open at a time.
class AllocationTracker {
 public:
  AllocationTracker();
  ~AllocationTracker();

  /// Routes LibTorch's CPU allocations through the tracker while it lives.
  class Scope {
   public:
    explicit Scope(AllocationTracker& tracker);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    c10::Allocator* former_;
  };

  int64_t live_bytes() const;
  /// Largest live bytes since the last `start`.
  int64_t peak_bytes() const;
  /// Begins a peak, and a timeline if wanted, whose points are relative to `floor` bytes.
  void start(int64_t floor, bool with_timeline);
  /// Points recorded since `start`, in order of time; ends the recording.
  std::vector<LivePoint> take_timeline();

 private:
  struct Counters;
  class Hook;
  std::shared_ptr<Counters> counters_;
  std::unique_ptr<Hook> hook_;
};

}  // namespace sapwood::bench
