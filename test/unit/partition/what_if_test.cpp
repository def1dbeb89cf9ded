#include "partition/what_if.h"
#include "partition/budget.h"

#include <gtest/gtest.h>

#include "unit/partition/scenarios.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr int64_t kMatrix = 64 * 64 * 4;

TEST(WhatIf, AValueThatMustStayInMemoryCostsAProduct) {
  // x w1 is saved for the cosine's gradient; without it, its factors are enough.
  test::Tape tape;
  const NodeId product = tape.mm(tape.input(64, 64), tape.input(64, 64));
  const test::Split split = test::split(tape.joint({tape.sum(tape.cos(product))}), {});
  EXPECT_EQ(split.plan.saved_bytes(), kMatrix);
  const WhatIf dropped = without_saving(split.joint, split.plan, {}, {}, product);
  EXPECT_TRUE(dropped.possible);
  EXPECT_EQ(dropped.node, product);
  EXPECT_EQ(dropped.saved_bytes_now, kMatrix);
  EXPECT_LE(dropped.saved_bytes_without, kMatrix);
  EXPECT_FALSE(dropped.text.empty());
}

TEST(WhatIf, SaysWhatIsSavedInItsPlace) {
  const test::Split split = test::split(test::scenario("tr2_sum_of_four"), {});
  ASSERT_EQ(split.saved(), std::vector<std::string>{"add_2"});
  const WhatIf dropped = without_saving(split.joint, split.plan, {}, {}, split.joint.find("add_2"));
  EXPECT_TRUE(dropped.possible);
  EXPECT_EQ(dropped.saved_bytes_now, 40);
  EXPECT_GE(dropped.saved_bytes_without, 0);
  EXPECT_NE(dropped.text.find("bytes would be saved instead of 40"), std::string::npos) << dropped.text;
  EXPECT_NE(dropped.text.find("saved in its place: '"), std::string::npos) << dropped.text;
}

TEST(WhatIf, WhatMustRunOnceCannotBeDropped) {
  const test::Split split = test::split(test::scenario("compared_noise"), {});
  NodeId noise = graph::kNoNode;
  for (const NodeId id : split.joint.order())
    if (split.joint[id].is_call("aten.rand_like.default")) noise = id;
  ASSERT_NE(noise, graph::kNoNode);
  const WhatIf dropped = without_saving(split.joint, split.plan, {}, {}, noise);
  if (dropped.possible) {
    EXPECT_GE(dropped.saved_bytes_without, dropped.saved_bytes_now);
  } else {
    EXPECT_TRUE(dropped.text.starts_with("impossible: ")) << dropped.text;
  }
}

TEST(WhatIf, InputsAndGradientsAreNoChoice) {
  const test::Split split = test::split(test::scenario("tr2_sum_of_four"), {});
  for (const char* name : {"primals_1", "tangents_1", "mul"}) {
    const WhatIf dropped = without_saving(split.joint, split.plan, {}, {}, split.joint.find(name));
    EXPECT_FALSE(dropped.possible);
    EXPECT_EQ(dropped.text, "it is no value that the forward computes") << name;
  }
}

}  // namespace
}  // namespace sapwood::partition
