// How often each operator runs with user checkpointing, with the numbers that PyTorch's own tests state
// (test_activation_checkpointing.py).
//
// Not here: a Triton kernel in a region (needs a GPU; a user's own operator stands for it); how often a side effect of
// Python happens, and the error for a wrong context object (both are Dynamo's, before there is a graph); regions in a
// single graph of forward and backward (single_graph_remat_test); region budgets (budget_test).

#include <gtest/gtest.h>

#include <set>

#include "partition/tag_rules.h"
#include "unit/partition/scenarios.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::NodeId;
using test::in_mode;
using test::modes;
using test::Split;
using Names = std::vector<std::string>;

struct Count {
  std::string target;
  int64_t forward;
  int64_t backward;
};

struct Row {
  std::string name;
  std::vector<Count> counts;
};

const std::string kMm = "aten.mm.default";
const std::string kSigmoid = "aten.sigmoid.default";
const std::string kMul = "aten.mul.Tensor";

const Row kRows[] = {
    {"ac1_one_region", {{kMm, 1, 3}}},
    {"ac2_two_blocks_in_sequence", {{kMm, 6, 18}, {"aten.cos.default", 4, 2}}},
    {"ac3_several_regions", {{kMm, 2, 6}}},
    {"ac4_module", {{kSigmoid, 1, 1}}},
    {"ac5_decomposed", {{"aten.erf.default", 1, 1}}},
    {"ac7_products_must_recompute", {{kMm, 2, 6}}},
    {"ac7_products_must_not_recompute", {{kMm, 2, 4}}},
    {"ac8_without_functionalization", {{kSigmoid, 1, 1}}},
    {"ac9_user_kernel", {{kMm, 2, 4}}},
    {"ac10_tensor_subclass", {{kMm, 4, 8}}},
    {"ac12_products_and_sigmoid_kept", {{kMm, 2, 4}, {kSigmoid, 1, 0}}},
    {"ac13_list_operator", {{"aten.cat.default", 1, 1}}},
    {"ac14_random_operator", {{kSigmoid, 2, 0}, {"aten.native_dropout.default", 1, 1}}},
    {"ac16_attention_pattern",
     {{"aten._scaled_dot_product_flash_attention_for_cpu.default", 1, 1}, {"aten.sin.default", 1, 0}}},
    {"ac21_partial_context_function", {{kMm, 2, 4}}},
    {"region_around_a_compiled_one", {{kMm, 2, 4}}},
    {"profiler_range_in_a_region", {{kMm, 2, 5}}},
};

class ScenariosCheckpointing : public testing::TestWithParam<std::tuple<Compatibility, Method>> {
 protected:
  PartitionOptions options() const {
    PartitionOptions options = in_mode(std::get<0>(GetParam()));
    options.method = std::get<1>(GetParam());
    return options;
  }
  bool min_cut() const { return std::get<1>(GetParam()) == Method::kMinCut; }
  Split run(const std::string& name) const {
    Split result = test::split(test::scenario(name), options());
    test::expect_good(result);
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Modes, ScenariosCheckpointing,
                         testing::Combine(testing::Values(Compatibility::kRepaired, Compatibility::kTorch213),
                                          testing::Values(Method::kDefault, Method::kMinCut)),
                         [](const auto& info) {
                           return test::mode_name(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) == Method::kDefault ? "Default" : "MinCut");
                         });

TEST_P(ScenariosCheckpointing, OperatorsRunAsOftenAsStated) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const Split split = run(row.name);
    for (const Count& count : row.counts) {
      EXPECT_EQ(split.forward_calls(count.target), count.forward) << count.target;
      EXPECT_EQ(split.backward_calls(count.target), count.backward) << count.target;
    }
  }
}

TEST_P(ScenariosCheckpointing, OnlyTheOutputWithAHookIsSavedBesidesTheInputs) {
  const Split split = run("ac6_output_with_hook");
  EXPECT_EQ(split.saved_memory(), (Names{"mul", "primals_1", "primals_2"}));
  EXPECT_EQ(split.backward_calls(kMul), min_cut() ? 1 : 2);  // of the gradient: the square's two are one after CSE
}

TEST_P(ScenariosCheckpointing, ARuleOfTheUsersOwnKeepsEverySecondProduct) {
  const Split split = run("ac11_every_second_product");
  EXPECT_EQ(split.forward_calls(kMm), 2);
  EXPECT_GE(split.backward_calls(kMm), 4);
  EXPECT_EQ(split.backward_calls(kMm), 5);  // four of the gradient, and the product that isn't kept
}

TEST_P(ScenariosCheckpointing, ARandomOperatorIsReplayedAndNotDrawnAgain) {
  const Split split = run("ac14_random_operator");
  EXPECT_EQ(split.forward_calls("higher_order.run_and_save_rng_state"), 1);
  EXPECT_EQ(split.backward_calls("higher_order.run_with_rng_state"), 1);
}

TEST_P(ScenariosCheckpointing, AParametrizationIsRecomputedOnceMoreWithoutCommonSubexpressions) {
  const Split split = run("ac15_parametrization");
  EXPECT_EQ(split.forward_calls(kMul), 1);
  EXPECT_EQ(split.forward_calls(kSigmoid), 1);
  EXPECT_EQ(split.backward_calls(kMul), min_cut() ? 2 : 3);
  EXPECT_EQ(split.backward_calls(kSigmoid), 1);
}

TEST_P(ScenariosCheckpointing, WhatASavedOperatorDecomposesIntoIsSaved) {
  const Graph joint = test::scenario("ac17_silu_decomposed");
  for (const char* name : {"neg", "exp", "add", "div"})
    EXPECT_EQ(joint[joint.find(name)].meta->recompute, CheckpointPolicy::kMustSave) << name;
  const Split split = run("ac17_silu_decomposed");
  for (const char* target : {"aten.neg.default", "aten.exp.default", "aten.div.Tensor"})
    EXPECT_EQ(split.backward_calls(target), 0) << target;
}

TEST_P(ScenariosCheckpointing, TopkAndItsResultsAreSaved) {
  const Graph joint = test::scenario("ac18_topk");
  JointView view = view_joint(joint, true);
  apply_tag_rules(view, !min_cut());
  EXPECT_TRUE(view.must_save(joint.find("topk")));
  int64_t getitems = 0;
  for (const NodeId id : joint[joint.find("topk")].users) getitems += view.must_save(id);
  EXPECT_EQ(getitems, 2);
  for (const NodeId id : joint.order()) {
    const graph::Node& node = joint[id];
    if (node.is_call("aten.detach.default") && node.meta->ac_graph_id)
      EXPECT_EQ(node.meta->recompute, CheckpointPolicy::kPreferRecompute) << node.name;
    if (node.target.starts_with("tangents")) {
      EXPECT_EQ(node.meta->partitioner_tag, graph::PartitionerTag::kBackward);
    }
  }
  const Split split = run("ac18_topk");
  EXPECT_EQ(split.forward_calls("aten.topk.default"), 1);
  EXPECT_EQ(split.backward_calls("aten.topk.default"), 0);
}

TEST_P(ScenariosCheckpointing, AListThatARegionFillsIsAnOutput) {
  const Split split = run("ac19_list_mutated_inside");
  EXPECT_EQ(split.outputs(), (Names{"add", "sin", "primals_1"}));
}

}  // namespace
}  // namespace sapwood::partition
