#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sapwood::exec {

/// A block of memory and when it is in use: from launch `first` to launch `last`, both included.
struct MemoryBlock {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

/// Where each block goes in one arena. Bytes.
struct ArenaPlan {
  std::vector<int64_t> offsets;  ///< one per block, multiples of kArenaAlignment
  int64_t arena_bytes = 0;
  int64_t peak_live_bytes = 0;  ///< largest sum of (aligned) blocks that are in use at once: no plan can need less
};

inline constexpr int64_t kArenaAlignment = 64;

/// Places the blocks: greedily, largest first, each into the smallest gap between the blocks placed already that are in
/// use at the same time; ties by lifetime and index, so the result is the same everywhere. O(n^2) at worst. Empty
/// blocks get offset 0. Several orders are tried and the smallest arena wins.
ArenaPlan plan_memory(const std::vector<MemoryBlock>& blocks);

/// What is wrong with `plan` for `blocks`, or nothing: a block out of the arena or misaligned, two blocks that are in
/// use at the same time and overlap. Shares no code with `plan_memory`.
std::vector<std::string> check_plan(const std::vector<MemoryBlock>& blocks, const ArenaPlan& plan);

}  // namespace sapwood::exec
