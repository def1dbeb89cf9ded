#include "partition/peak.h"

#include <gtest/gtest.h>

#include "partition/tag_rules.h"
#include "unit/partition/scenarios.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;

constexpr int64_t kMatrix = 16 * 16 * 4;

PeakMemory peak(const Graph& joint, const PartitionOptions& options) {
  const test::Split split = test::split(joint, options);
  JointView view = view_joint(split.joint, true);
  apply_tag_rules(view, options.method == Method::kDefault);
  return simulate_peak(view, select_parts(view, saved_sets(split.plan), options.method));
}

PartitionOptions save_all() {
  PartitionOptions options;
  options.method = Method::kDefault;
  return options;
}

TEST(Peak, InputsAndTangentsAreNotCounted) {
  test::Tape tape;
  const PeakMemory memory = peak(tape.joint({tape.cos(tape.input(16, 16))}), {});
  EXPECT_EQ(memory.forward, kMatrix) << "the result";
  EXPECT_EQ(memory.between, kMatrix);
  EXPECT_LE(memory.backward, 3 * kMatrix) << "the result is the caller's; sine, its negative, the gradient";
  EXPECT_EQ(memory.peak(), std::max(memory.forward, memory.backward));
}

TEST(Peak, WhatIsSavedLivesUntilItsLastReader) {
  // Three cosines: the default saves two of them, the minimum cut none.
  const auto chain = [] {
    test::Tape tape;
    return tape.joint({tape.cos(tape.cos(tape.cos(tape.input(16, 16))))});
  };
  const PeakMemory all = peak(chain(), save_all());
  const PeakMemory few = peak(chain(), {});
  EXPECT_EQ(all.between, 3 * kMatrix);
  EXPECT_EQ(all.forward, 3 * kMatrix);
  EXPECT_EQ(few.between, kMatrix);
  EXPECT_EQ(few.forward, 2 * kMatrix) << "a cosine dies when the next is there";
}

TEST(Peak, ViewsLiveInTheirBase) {
  // Both gradients of the product read transposed views of saved inputs.
  test::Tape tape;
  const PeakMemory memory = peak(tape.joint({tape.mm(tape.input(16, 16), tape.input(16, 16))}), {});
  EXPECT_EQ(memory.forward, kMatrix);
  EXPECT_EQ(memory.between, kMatrix);
  EXPECT_LE(memory.backward, 3 * kMatrix) << "the result and two gradients";
}

TEST(Peak, GrowsWithEveryLayerIfAllIsSavedAndNotIfCheckpointed) {
  const auto stack = [](int layers, bool checkpointed) {
    test::Tape tape;
    NodeId x = tape.input(16, 16);
    for (int i = 0; i < layers; ++i) {
      if (checkpointed) tape.checkpoint(i + 1);
      x = tape.cos(tape.cos(tape.cos(x)));
    }
    tape.checkpoint(0);
    return tape.joint({tape.sum(x)});
  };
  EXPECT_EQ(peak(stack(8, false), save_all()).between - peak(stack(4, false), save_all()).between, 12 * kMatrix);
  EXPECT_EQ(peak(stack(8, true), {}).between - peak(stack(4, true), {}).between, 4 * kMatrix) << "boundaries";
}

}  // namespace
}  // namespace sapwood::partition
