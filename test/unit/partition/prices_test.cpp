#include "partition/prices.h"

#include <gtest/gtest.h>

#include "unit/partition/scenarios.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

const SavedValue& find(const test::Split& split, const std::string& name) {
  for (const SavedValue& value : split.plan.saved)
    if (split.joint[value.node].name == name) return value;
  throw std::runtime_error(name + " isn't saved");
}

/// What PyTorch calls the default: every value that the backward reads is saved.
PartitionOptions save_all() {
  PartitionOptions options;
  options.method = Method::kDefault;
  return options;
}

TEST(Prices, CountTheCallsBackToWhatIsSaved) {
  test::Tape tape;
  const NodeId x = tape.input(64, 64);
  const NodeId a = tape.cos(x);
  const NodeId b = tape.cos(a);
  const test::Split split = test::split(tape.joint({tape.cos(b)}), save_all());
  // Both inner cosines are saved: each is one call from what is saved before it.
  for (const char* name : {"cos", "cos_1"}) {
    const Price& price = find(split, name).price;
    EXPECT_TRUE(price.possible);
    EXPECT_EQ(price.nodes, 1);
    EXPECT_EQ(price.runtime, 1);
    EXPECT_EQ(price.extra_bytes, 0);
  }
  EXPECT_FALSE(find(split, "primals_1").price.possible) << "an input can't be computed";
}

TEST(Prices, OfAProductAreItsOperations) {
  test::Tape tape;
  const NodeId product = tape.mm(tape.input(64, 32), tape.input(32, 16));
  const test::Split split = test::split(tape.joint({tape.sum(tape.cos(product))}), {});
  const Price& price = find(split, "mm").price;
  EXPECT_TRUE(price.possible);
  EXPECT_EQ(price.nodes, 1);
  EXPECT_EQ(price.runtime, 2.0 * 64 * 32 * 16);
  EXPECT_EQ(price.extra_bytes, 0) << "both factors are in memory, as views that are saved for the gradients";
}

TEST(Prices, NameTheInputsThatWouldHaveToBeHandedOver) {
  const test::Split split = test::split(test::scenario("tr2_sum_of_four"), {});
  const Price& price = find(split, "add_2").price;
  EXPECT_TRUE(price.possible);
  EXPECT_EQ(price.nodes, 3);
  EXPECT_EQ(price.extra_bytes, 4 * 10 * 4);
}

TEST(Prices, WhatMustRunOnceIsTheObstacle) {
  const test::Split split = test::split(test::scenario("compared_noise"), save_all());
  bool found = false;
  for (const SavedValue& value : split.plan.saved) {
    if (value.price.obstacle.empty()) continue;
    found = true;
    EXPECT_FALSE(value.price.possible);
    EXPECT_TRUE(split.joint[split.joint.find(value.price.obstacle)].is_call("aten.rand_like.default"))
        << value.price.obstacle;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace sapwood::partition
