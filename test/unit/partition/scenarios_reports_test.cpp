// The smallest steps of public reports about PyTorch's partitioner: what is kept, and what it costs. Numbers are issues
// of pytorch/pytorch. Random numbers, writes, marks, sizes and ranks are in scenarios_reports_semantics_test.
//
// Elsewhere: #197871, #160914 (knapsack_test), #196914, #197117 (knapsack_evaluator_test), #126320, #169636, #136431
// (budget_test), #143539, #143692 (pareto_test). Not applicable: #120950 (an operator that returns its inputs without
// declaring it can't be seen in a graph), #148222 (unpacking hooks belong to autograd), #84922 (functionalization comes
// before), #176620 and #170535 (CUDA graphs are the executor's), #181704 (speed: bench).

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/op_table.h"
#include "partition/peak.h"
#include "partition/tag_rules.h"
#include "unit/partition/corpus.h"
#include "unit/partition/pair_text.h"
#include "unit/partition/scenarios.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::in_mode;
using test::modes;
using test::Split;
using Names = std::vector<std::string>;

Split good_split(const std::string& name, const PartitionOptions& options) {
  Split result = test::split(test::scenario(name), options);
  test::expect_good(result);
  return result;
}

int64_t peak_of(const Split& split, Method method = Method::kMinCut) {
  JointView view = view_joint(split.joint, true);
  apply_tag_rules(view, method == Method::kDefault);
  return simulate_peak(view, select_parts(view, saved_sets(split.plan), method)).peak();
}

/// Names of what is saved that isn't an input.
Names kept(const Split& split) {
  Names names;
  for (const SavedValue& value : split.plan.saved)
    if (!value.is_input) names.push_back(split.joint[value.node].name);
  return names;
}

/// x + cos(x w1) w2, again and again: dropping one value makes a whole chain live again.
Graph residual_stack(int layers) {
  test::Tape tape;
  NodeId x = tape.input(32, 32);
  for (int i = 0; i < layers; ++i)
    x = tape.add(x, tape.mm(tape.cos(tape.mm(x, tape.input(32, 128))), tape.input(128, 32)));
  return tape.joint({tape.sum(x)});
}

// #197838
TEST(ScenariosReports, ASmallerBudgetNeverPeaksHigher) {
  for (const Graph& joint : {residual_stack(8), test::scenario("residual_products")}) {
    int64_t larger = INT64_MAX;
    for (int step = 19; step >= 1; --step) {
      const Split split = test::split(joint, in_mode(Compatibility::kRepaired, step / 20.0));
      test::expect_good(split);
      const int64_t peak = peak_of(split);
      EXPECT_LE(peak, larger) << "budget " << step << "/20";
      larger = peak;
    }
  }
}

// #130039
TEST(ScenariosReports, InputsAreSavedInsteadOfProductsOfThem) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("products_over_shared_factors", in_mode(mode));
    EXPECT_EQ(kept(split), Names{});
    EXPECT_EQ(split.plan.saved_bytes(), 0);
    EXPECT_EQ(split.saved().size(), 3u);
  }
}

// #149258
TEST(ScenariosReports, AResidualChainSavesOneValuePerLink) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("residual_products", in_mode(mode));
    // The running sums behind the first two of three links, and not the products.
    EXPECT_EQ(kept(split).size(), 2u);
    EXPECT_EQ(split.saved_memory(), (Names{"add", "add_1", "primals_1", "primals_2", "primals_3", "primals_4"}));
    EXPECT_EQ(split.plan.saved_bytes(), 2 * 64 * 64 * 4);
  }
}

// #103635
TEST(ScenariosReports, ACheckpointWinsOverTheRuleForLongChains) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("checkpointed_pointwise_chain", in_mode(mode));
    for (const std::string& name : kept(split))
      EXPECT_FALSE(split.joint[split.joint.find(name)].meta->ac_graph_id) << name;
  }
}

// #126446, #128109
TEST(ScenariosReports, ABaseAndItsViewAreNotBothSaved) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("view_of_a_saved_base", in_mode(mode));
    std::set<int32_t> memory;
    const JointView view = view_joint(split.joint, true);
    for (const SavedValue& value : split.plan.saved)
      EXPECT_TRUE(memory.insert(view.storage(value.node)).second) << split.joint[value.node].name;
  }
}

// #185783
TEST(ScenariosReports, TheHelperOfOnlineSoftmaxMayBeRecomputed) {
  const ops::OpInfo* helper = ops::find_op("prims.prepare_softmax_online.default");
  ASSERT_NE(helper, nullptr);
  EXPECT_EQ(helper->remat, ops::Remat::kRecompute);
  for (const Compatibility mode : modes()) {
    const Split split = good_split("softmax_after_a_product", in_mode(mode));
    EXPECT_LE(split.plan.saved_bytes(), 64 * 64 * 4 + 2 * 64 * 4) << "a matrix, and two numbers per row";
  }
}

// #118224
TEST(ScenariosReports, SavedSizesComeFromTheForward) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("equal_dynamic_sizes", in_mode(mode));
    for (const std::string& name : split.saved()) {
      EXPECT_NE(split.parts.forward.find(name), graph::kNoNode) << name;
      EXPECT_FALSE(name.starts_with("tangents")) << name;
    }
  }
}

// #193193
TEST(ScenariosReports, CheckpointedBlocksNeverPeakHigherThanEager) {
  // Eager keeps the inputs of four blocks (the first is the step's own), and per block the two hidden values, their
  // gradient, and what a block adds to the sum; gradients of weights accumulate.
  constexpr int64_t kState = 16 * 32 * 4;
  constexpr int64_t kHidden = 16 * 64 * 4;
  constexpr int64_t kWeight = 32 * 64 * 4;
  constexpr int64_t kEager = 4 * kState + 3 * kHidden + 2 * kState + 5 * kWeight;
  for (const Compatibility mode : modes()) {
    const Split split = good_split("shared_blocks_checkpointed_twice", in_mode(mode));
    EXPECT_EQ(kept(split), (Names{"add", "add_1", "add_2"}));
    EXPECT_LE(peak_of(split), kEager);
    // Each block is run again only when the gradient has passed those behind it.
    const Graph& backward = split.parts.backward;
    bool behind = false;
    for (const NodeId id : backward.order()) {
      if (backward[id].name == "mm_11") behind = true;
      if (backward[id].name == "mm_4") EXPECT_TRUE(behind);
    }
    EXPECT_TRUE(behind);
  }
}

// allenai/OLMo-core#297
TEST(ScenariosReports, AnAbsoluteTargetIsKept) {
  for (const int64_t bytes : {0, 16 * 1024, 40 * 1024}) {
    PartitionOptions options;
    options.activation_memory_bytes = bytes;
    const Split split = good_split("residual_products", options);
    EXPECT_LE(split.plan.saved_bytes(), bytes);
  }
}

// pytorch/torchtitan#610
TEST(ScenariosReports, UnderABudgetAttentionAndItsTransposedCopyAreNotBothSaved) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("attention_then_transposed_copy", in_mode(mode, 0.9));
    constexpr int64_t kOut = 2 * 4 * 32 * 16 * 4;
    constexpr int64_t kRows = 2 * 4 * 32 * 4;
    EXPECT_LE(split.plan.saved_bytes(), kOut + kRows);
  }
}

// #141881, #148922, #117898
TEST(ScenariosReports, CastsOfAWeightAreRepeatedAndNeverSaved) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("weight_cast_in_both_halves", in_mode(mode));
    for (const SavedValue& value : split.plan.saved) {
      const graph::DType dtype = split.joint[value.node].tensor()->dtype;
      EXPECT_NE(dtype, graph::DType::kFloat8E4M3FN);
      EXPECT_NE(dtype, graph::DType::kFloat8E5M2);
    }
    PartitionOptions eager = in_mode(mode);
    eager.method = Method::kDefault;
    EXPECT_LE(split.plan.saved_bytes(),
              test::split(test::scenario("weight_cast_in_both_halves"), eager).plan.saved_bytes());
  }
}

// #146693
TEST(ScenariosReports, WhatOnlyTheBackwardNeedsStaysThere) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("weight_scale_for_the_backward", in_mode(mode));
    EXPECT_EQ(split.forward_calls("aten.amax.default"), 0);
    EXPECT_EQ(split.backward_calls("aten.amax.default"), 1);
    EXPECT_EQ(split.plan.saved_bytes(), 0);
  }
}

// #128730
TEST(ScenariosReports, ARegionsMarksWinOverCasts) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("region_around_casts", in_mode(mode));
    for (const SavedValue& value : split.plan.saved)
      EXPECT_NE(split.joint[value.node].tensor()->dtype, graph::DType::kFloat8E4M3FN);
    EXPECT_EQ(split.forward_calls("aten.mm.default"), 2);
    EXPECT_EQ(split.backward_calls("aten.mm.default"), 4);
  }
}

// #141684
TEST(ScenariosReports, ABudgetKeepsTheBoundaryOfRegions) {
  const Graph joint = test::scenario("two_regions_back_to_back");
  Names boundary;
  for (const NodeId id : joint.order())
    for (const NodeId user : joint[id].users)
      if (joint[id].meta->ac_graph_id && joint[user].meta->ac_graph_id &&
          *joint[id].meta->ac_graph_id < *joint[user].meta->ac_graph_id)
        boundary = {joint[id].name};
  ASSERT_EQ(boundary.size(), 1u);
  for (const Compatibility mode : modes()) {
    for (const double budget : {0.01, 0.1, 0.5, 0.9}) {
      SCOPED_TRACE(test::mode_name(mode) + " " + std::to_string(budget));
      EXPECT_EQ(kept(good_split("two_regions_back_to_back", in_mode(mode, budget))), boundary);
    }
  }
}

// #169636
TEST(ScenariosReports, AUsersOperatorIsWeighedIfAskedFor) {
  for (const bool included : {false, true}) {
    PartitionOptions options = in_mode(Compatibility::kRepaired, 0.3);
    options.is_non_builtin_to_include = included;
    const Split split = good_split("user_operator_between_products", options);
    ASSERT_TRUE(split.decision.knapsack);
    Names weighed = test::names_of(split.joint, split.decision.knapsack->candidates);
    EXPECT_EQ(std::ranges::count(weighed, "double_1") + std::ranges::count(weighed, "double"), included ? 1 : 0);
  }
}

}  // namespace
}  // namespace sapwood::partition
