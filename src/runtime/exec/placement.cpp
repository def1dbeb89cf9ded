#include "runtime/exec/placement.h"

#include <algorithm>
#include <numeric>

namespace sapwood::exec {
namespace {

/// Blocks smaller than this aren't worth an allocation per step.
constexpr int64_t kSmallBytes = 4096;

/// Outputs and other numbers on the heap don't keep a block from going there.
constexpr int64_t kSlackBytes = 64;

/// What fits into a number.
constexpr int64_t kNumberBytes = sizeof(double);

/// Live bytes at each call, in the arena and on the heap.
struct Usage {
  std::vector<int64_t> arena, heap;

  static int64_t most(const std::vector<int64_t>& bytes) {
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  }
  int64_t most_together() const {
    int64_t most = 0;
    for (size_t c = 0; c < arena.size(); ++c) most = std::max(most, arena[c] + heap[c]);
    return most;
  }
};

/// The calls in which a region's memory is in use.
std::pair<size_t, size_t> span_of(const Program& program, const Lives& lives, size_t region) {
  const Lifetime& life = lives[region];
  const bool leaves = program.regions[region].placement == Placement::kOutput;
  return {static_cast<size_t>(life.first), leaves ? program.calls.size() : static_cast<size_t>(life.last) + 1};
}

bool is_in_step(Placement placement) {
  return placement == Placement::kArena || placement == Placement::kOwned || placement == Placement::kOutput;
}

Usage measure(const Program& program, const Lives& lives) {
  Usage usage{std::vector<int64_t>(program.calls.size() + 1, 0), std::vector<int64_t>(program.calls.size() + 1, 0)};
  for (size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    if (!has_own_memory(program, lives, r) || !is_in_step(region.placement)) continue;
    std::vector<int64_t>& bytes = region.placement == Placement::kArena ? usage.arena : usage.heap;
    const auto [first, end] = span_of(program, lives, r);
    bytes[first] += region.bytes;
    bytes[end] -= region.bytes;
  }
  for (std::vector<int64_t>* bytes : {&usage.arena, &usage.heap}) {
    std::partial_sum(bytes->begin(), bytes->end(), bytes->begin());
    bytes->pop_back();
  }
  return usage;
}

/// Moves blocks from the arena to the heap while that lowers the sum of both peaks.
class Balance {
 public:
  Balance(Program& program, const Lives& lives) : program_(program), lives_(lives), usage_(measure(program, lives)) {}

  void run() {
    constexpr int kMostMoves = 64;
    for (int moves = 0; moves < kMostMoves; ++moves) {
      const int64_t heap = Usage::most(usage_.heap);
      if (heap == 0) return;
      if (Usage::most(usage_.arena) + heap <= usage_.most_together()) return;
      const RegionId region = find_movable(heap);
      if (region < 0) return;
      move(static_cast<size_t>(region));
    }
  }

 private:
  /// The largest block at the arena's peak that doesn't raise the heap's by more than the slack.
  RegionId find_movable(int64_t heap) const {
    const auto peak =
        static_cast<size_t>(std::max_element(usage_.arena.begin(), usage_.arena.end()) - usage_.arena.begin());
    RegionId best = -1;
    int64_t best_bytes = kSmallBytes - 1;
    for (size_t r = 0; r < program_.regions.size(); ++r) {
      const Region& region = program_.regions[r];
      if (region.placement != Placement::kArena || !has_own_memory(program_, lives_, r) || region.bytes <= best_bytes)
        continue;
      const auto [first, end] = span_of(program_, lives_, r);
      if (peak < first || peak >= end) continue;
      const auto from = usage_.heap.begin();
      const int64_t most = *std::max_element(from + static_cast<ptrdiff_t>(first), from + static_cast<ptrdiff_t>(end));
      if (most + region.bytes > heap + kSlackBytes) continue;
      best = static_cast<RegionId>(r);
      best_bytes = region.bytes;
    }
    return best;
  }

  void move(size_t region) {
    const auto [first, end] = span_of(program_, lives_, region);
    for (size_t c = first; c < end; ++c) {
      usage_.arena[c] -= program_.regions[region].bytes;
      usage_.heap[c] += program_.regions[region].bytes;
    }
    program_.regions[region].placement = Placement::kOwned;
  }

  Program& program_;
  const Lives& lives_;
  Usage usage_;
};

}  // namespace

bool has_own_memory(const Program& program, const Lives& lives, size_t region) {
  return lives[region].first >= 0 && program.regions[region].owner < 0;
}

std::vector<bool> allocated_by_kernel(const Program& program) {
  std::vector<bool> result(program.regions.size(), false);
  for (const Call& call : program.calls)
    if (call.kind == CallKind::kFunctional)
      for (const ValueId value : call.results)
        if (value != kNoValue) result[static_cast<size_t>(program.region_of(value))] = true;
  return result;
}

Lives place_values(Program& program) {
  const std::vector<bool> by_kernel = allocated_by_kernel(program);
  std::vector<bool> reusable;
  for (size_t r = 0; r < program.regions.size(); ++r) {
    Region& region = program.regions[r];
    if (region.placement == Placement::kOwned && !by_kernel[r])
      region.placement = region.bytes <= kNumberBytes ? Placement::kNumber : Placement::kArena;
    reusable.push_back(region.placement == Placement::kOwned || region.placement == Placement::kArena);
  }
  Lives lives = find_lifetimes(program);
  const std::vector<RegionId> owners = reuse_dying_operands(program, reusable, lives);
  for (size_t r = 0; r < owners.size(); ++r)
    program.regions[r].owner = owners[r] == static_cast<RegionId>(r) ? -1 : owners[r];
  Balance(program, lives).run();
  for (Region& region : program.regions)
    if (region.owner >= 0) region.placement = program.regions[static_cast<size_t>(region.owner)].placement;
  return lives;
}

void report_memory(const Program& program, const Lives& lives, MemoryReport& report) {
  const Usage usage = measure(program, lives);
  report.peak_live_bytes = usage.most_together();
  for (size_t c = 0; c < usage.arena.size(); ++c) report.live_bytes.push_back(usage.arena[c] + usage.heap[c]);
}

}  // namespace sapwood::exec
