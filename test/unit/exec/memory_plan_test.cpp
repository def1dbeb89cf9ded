#include "runtime/exec/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace sapwood::exec {
namespace {

TEST(MemoryPlan, BlocksThatAreNeverInUseTogetherShareMemory) {
  const std::vector<MemoryBlock> blocks{{1000, 0, 1}, {1000, 2, 3}, {1000, 4, 5}};
  const ArenaPlan plan = plan_memory(blocks);
  EXPECT_EQ(plan.arena_bytes, 1024);
  EXPECT_EQ(plan.peak_live_bytes, 1024);
  EXPECT_TRUE(check_plan(blocks, plan).empty());
}

TEST(MemoryPlan, ABlockIsInUseDuringItsFirstAndLastLaunch) {
  const std::vector<MemoryBlock> blocks{{64, 0, 2}, {64, 2, 3}};
  EXPECT_EQ(plan_memory(blocks).arena_bytes, 128);
}

TEST(MemoryPlan, EmptyBlocksTakeNothing) {
  const std::vector<MemoryBlock> blocks{{0, 0, 9}, {64, 0, 9}, {0, 3, 4}};
  const ArenaPlan plan = plan_memory(blocks);
  EXPECT_EQ(plan.arena_bytes, 64);
  EXPECT_TRUE(check_plan(blocks, plan).empty());
}

TEST(MemoryPlan, NoBlocks) { EXPECT_EQ(plan_memory({}).arena_bytes, 0); }

TEST(MemoryPlan, TheCheckerSeesOverlapsMisalignmentAndEscapes) {
  const std::vector<MemoryBlock> blocks{{128, 0, 2}, {128, 2, 3}};
  EXPECT_EQ(check_plan(blocks, {.offsets = {0, 64}, .arena_bytes = 192, .peak_live_bytes = 0}).size(), 1U);
  EXPECT_EQ(check_plan(blocks, {.offsets = {0, 130}, .arena_bytes = 300, .peak_live_bytes = 0}).size(), 1U);
  EXPECT_EQ(check_plan(blocks, {.offsets = {0, 128}, .arena_bytes = 200, .peak_live_bytes = 0}).size(), 1U);
  EXPECT_EQ(check_plan(blocks, {.offsets = {0}, .arena_bytes = 200, .peak_live_bytes = 0}).size(), 1U);
  EXPECT_TRUE(check_plan(blocks, {.offsets = {0, 128}, .arena_bytes = 256, .peak_live_bytes = 0}).empty());
}

/// Lifetimes as in training: values of the forward are used again in the backward, in reverse.
std::vector<MemoryBlock> nested(std::mt19937& random, int32_t depth) {
  std::vector<MemoryBlock> blocks;
  for (int32_t i = 0; i < depth; ++i) {
    const auto bytes = static_cast<int64_t>(random() % 5 == 0 ? random() % 100000 : 4096 * (1 + random() % 4));
    blocks.push_back({bytes, i, random() % 2 == 0 ? 2 * depth - i : i + static_cast<int32_t>(random() % 4)});
  }
  return blocks;
}

TEST(MemoryPlan, RandomProgramsArePlannedSoundlyAndTightly) {
  double worst = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::vector<MemoryBlock> blocks = nested(random, 1 + static_cast<int32_t>(random() % 200));
    const ArenaPlan plan = plan_memory(blocks);
    ASSERT_TRUE(check_plan(blocks, plan).empty()) << "seed " << seed << ": " << check_plan(blocks, plan).front();
    ASSERT_GE(plan.arena_bytes, plan.peak_live_bytes) << "seed " << seed;
    if (plan.peak_live_bytes > 0)
      worst = std::max(worst, static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.peak_live_bytes));
  }
  EXPECT_LT(worst, 1.25);
}

}  // namespace
}  // namespace sapwood::exec
