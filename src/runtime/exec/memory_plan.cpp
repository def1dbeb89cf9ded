#include "runtime/exec/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace sapwood::exec {
namespace {

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

/// Places the blocks in the order given.
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
  ArenaPlan best = place(blocks, by([&](size_t b) { return std::pair(blocks[b].bytes, length(b)); }));
  const auto try_order = [&](const std::vector<size_t>& candidate) {
    if (best.arena_bytes == least) return;
    ArenaPlan plan = place(blocks, candidate);
    if (plan.arena_bytes < best.arena_bytes) best = std::move(plan);
  };
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
    if (plan.offsets[b] % 64 != 0) problems.push_back(name(b) + " is misaligned");
    if (plan.offsets[b] < 0 || plan.offsets[b] + blocks[b].bytes > plan.arena_bytes)
      problems.push_back(name(b) + " leaves the arena");
  }
  // Blocks in use at a launch, sorted by offset, must not overlap: sweep over launches.
  int32_t end = 0;
  for (const MemoryBlock& block : blocks) end = std::max(end, block.last + 1);
  std::vector<std::vector<size_t>> starting(static_cast<size_t>(end));
  for (size_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].bytes > 0) starting[static_cast<size_t>(blocks[b].first)].push_back(b);
  std::vector<size_t> live;
  for (int32_t launch = 0; launch < end; ++launch) {
    std::erase_if(live, [&](size_t b) { return blocks[b].last < launch; });
    for (const size_t fresh : starting[static_cast<size_t>(launch)]) {
      for (const size_t other : live)
        if (plan.offsets[fresh] < plan.offsets[other] + blocks[other].bytes &&
            plan.offsets[other] < plan.offsets[fresh] + blocks[fresh].bytes)
          problems.push_back(name(fresh) + " and " + name(other) + " overlap at launch " + std::to_string(launch));
      live.push_back(fresh);
    }
  }
  return problems;
}

}  // namespace sapwood::exec
