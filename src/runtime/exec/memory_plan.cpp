#include "runtime/exec/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace sapwood::exec {
namespace {

/// Above this the quadratic orders take too long.
constexpr size_t kMostBlocksToOrder = 4096;

int64_t aligned(int64_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

bool overlap_in_time(const MemoryBlock& a, const MemoryBlock& b) { return a.first <= b.last && b.first <= a.last; }

/// Offset of the smallest gap of at least `bytes` between `busy` (sorted by offset), else the first place after all of
/// them.
int64_t best_gap(const std::vector<std::pair<int64_t, int64_t>>& busy, int64_t bytes) {
  int64_t best = -1;
  int64_t best_size = 0;
  int64_t end = 0;
  for (const auto& [begin, stop] : busy) {
    const int64_t gap = begin - end;
    if (gap >= bytes && (best < 0 || gap < best_size)) {
      best = end;
      best_size = gap;
    }
    end = std::max(end, stop);
  }
  return best >= 0 ? best : end;
}

int64_t peak(const std::vector<MemoryBlock>& blocks) {
  int32_t end = 0;
  for (const MemoryBlock& block : blocks) end = std::max(end, block.last + 1);
  std::vector<int64_t> change(static_cast<size_t>(end) + 1, 0);
  for (const MemoryBlock& block : blocks) {
    change[static_cast<size_t>(block.first)] += aligned(block.bytes);
    change[static_cast<size_t>(block.last) + 1] -= aligned(block.bytes);
  }
  int64_t live = 0;
  int64_t most = 0;
  for (const int64_t delta : change) most = std::max(most, live += delta);
  return most;
}

/// Which blocks start and end at each launch; empty blocks are left out.
struct Events {
  std::vector<std::vector<size_t>> starting, ending;

  explicit Events(const std::vector<MemoryBlock>& blocks) {
    int32_t end = 0;
    for (const MemoryBlock& block : blocks) end = std::max(end, block.last + 1);
    starting.resize(static_cast<size_t>(end));
    ending.resize(static_cast<size_t>(end));
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].bytes <= 0) continue;
      starting[static_cast<size_t>(blocks[b].first)].push_back(b);
      ending[static_cast<size_t>(blocks[b].last)].push_back(b);
    }
  }
};

/// Free ranges of an arena that grows at its end.
class FreeRanges {
 public:
  /// The smallest range that is large enough, else new memory at the end.
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return extend(bytes);
    const auto [size, offset] = *fit;
    remove(offset, size);
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      const auto [from, size] = *next;
      remove(from, size);
      bytes += size;
    }
    next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      const auto [from, size] = *std::prev(next);
      remove(from, size);
      offset = from;
      bytes += size;
    }
    add(offset, bytes);
  }

  int64_t end() const { return end_; }

 private:
  int64_t extend(int64_t bytes) {
    int64_t offset = end_;
    if (!by_offset_.empty() && by_offset_.rbegin()->first + by_offset_.rbegin()->second == end_) {
      offset = by_offset_.rbegin()->first;
      remove(offset, by_offset_.rbegin()->second);
    }
    end_ = offset + bytes;
    return offset;
  }
  void add(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void remove(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

/// Places the blocks in the order of time, as an allocator with perfect frees would. O(n log n).
ArenaPlan sweep(const std::vector<MemoryBlock>& blocks) {
  ArenaPlan plan;
  plan.offsets.assign(blocks.size(), 0);
  Events events(blocks);
  FreeRanges free;
  for (size_t launch = 0; launch < events.starting.size(); ++launch) {
    std::vector<size_t>& starting = events.starting[launch];
    std::ranges::stable_sort(starting, std::greater<>(), [&](size_t b) { return blocks[b].bytes; });
    for (const size_t b : starting) plan.offsets[b] = free.take(aligned(blocks[b].bytes));
    for (const size_t b : events.ending[launch]) free.give(plan.offsets[b], aligned(blocks[b].bytes));
  }
  plan.arena_bytes = free.end();
  return plan;
}

/// Places the blocks in the order given. O(n^2).
ArenaPlan place(const std::vector<MemoryBlock>& blocks, const std::vector<size_t>& order) {
  ArenaPlan plan;
  plan.offsets.assign(blocks.size(), 0);
  std::vector<size_t> placed;  // by offset
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (const size_t b : order) {
    const int64_t bytes = aligned(blocks[b].bytes);
    if (bytes == 0) continue;
    busy.clear();
    for (const size_t other : placed)
      if (overlap_in_time(blocks[b], blocks[other]))
        busy.emplace_back(plan.offsets[other], plan.offsets[other] + aligned(blocks[other].bytes));
    plan.offsets[b] = best_gap(busy, bytes);
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[b] + bytes);
    const auto after = std::upper_bound(placed.begin(), placed.end(), plan.offsets[b],
                                        [&](int64_t offset, size_t o) { return offset < plan.offsets[o]; });
    placed.insert(after, b);
  }
  return plan;
}

}  // namespace

ArenaPlan plan_memory(const std::vector<MemoryBlock>& blocks) {
  const int64_t least = peak(blocks);
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto length = [&](size_t b) { return int64_t{blocks[b].last} - blocks[b].first; };
  const auto by = [&](auto key) {
    std::vector<size_t> sorted = order;
    std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
    return sorted;
  };
  ArenaPlan best = sweep(blocks);
  const auto try_order = [&](const std::vector<size_t>& candidate) {
    if (best.arena_bytes == least || blocks.size() > kMostBlocksToOrder) return;
    ArenaPlan plan = place(blocks, candidate);
    if (plan.arena_bytes < best.arena_bytes) best = std::move(plan);
  };
  try_order(by([&](size_t b) { return std::pair(blocks[b].bytes, length(b)); }));
  try_order(by([&](size_t b) { return std::pair(length(b), blocks[b].bytes); }));
  try_order(by([&](size_t b) { return static_cast<double>(length(b) + 1) * static_cast<double>(blocks[b].bytes); }));
  try_order(by([&](size_t b) { return -int64_t{blocks[b].first}; }));
  best.peak_live_bytes = least;
  return best;
}

std::vector<std::string> check_plan(const std::vector<MemoryBlock>& blocks, const ArenaPlan& plan) {
  std::vector<std::string> problems;
  if (plan.offsets.size() != blocks.size())
    return {"the plan has " + std::to_string(plan.offsets.size()) + " offsets for " + std::to_string(blocks.size()) +
            " blocks"};
  const auto name = [](size_t b) { return "block " + std::to_string(b); };
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (plan.offsets[b] % kArenaAlignment != 0) problems.push_back(name(b) + " is misaligned");
    if (plan.offsets[b] < 0 || plan.offsets[b] + blocks[b].bytes > plan.arena_bytes)
      problems.push_back(name(b) + " leaves the arena");
  }
  // Sweep over the launches; of the blocks in use, sorted by offset, neighbours must not overlap.
  std::map<int64_t, size_t> live;
  const Events events(blocks);
  const auto compare = [&](size_t low, size_t high, size_t launch) {
    if (plan.offsets[low] + blocks[low].bytes > plan.offsets[high])
      problems.push_back(name(low) + " and " + name(high) + " overlap at launch " + std::to_string(launch));
  };
  for (size_t launch = 0; launch < events.starting.size(); ++launch) {
    for (const size_t b : events.starting[launch]) {
      const auto [at, fresh] = live.emplace(plan.offsets[b], b);
      if (!fresh) {
        compare(at->second, b, launch);
        continue;
      }
      if (at != live.begin()) compare(std::prev(at)->second, b, launch);
      if (std::next(at) != live.end()) compare(b, std::next(at)->second, launch);
    }
    for (const size_t b : events.ending[launch])
      if (const auto at = live.find(plan.offsets[b]); at != live.end() && at->second == b) live.erase(at);
  }
  return problems;
}

}  // namespace sapwood::exec
