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

/// What libtorch's allocator gives: kernels pick their loops, and so their rounding, by the alignment of their
/// operands.
inline constexpr int64_t kArenaAlignment = 64;

/// Places the blocks. First in the order of time, each into the smallest free range (O(n log n)); if that doesn't reach
/// the lower bound and there are at most a few thousand blocks, also greedily in several orders (size, lifetime, both),
/// each into the smallest gap between blocks placed already that are in use at the same time (O(n^2)). The smallest
/// arena wins; ties go by index, so the result is the same everywhere. Empty blocks get offset 0.
ArenaPlan plan_memory(const std::vector<MemoryBlock>& blocks);

/// What is wrong with `plan` for `blocks`, or nothing: a block out of the arena or misaligned, two blocks that are in
/// use at the same time and overlap. Shares no placement code with `plan_memory`.
std::vector<std::string> check_plan(const std::vector<MemoryBlock>& blocks, const ArenaPlan& plan);

}  // namespace sapwood::exec
