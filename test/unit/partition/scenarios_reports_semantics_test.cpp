// The smallest steps of public reports about PyTorch's partitioner: random numbers, writes, marks, sizes and ranks.
// Numbers are issues of pytorch/pytorch.
//
// Elsewhere: #148380, #151770, #180287, #163364 (quantize_test), #152264, #193043 (agreement_test), #185169 and its
// relatives (budget_test), #161650 (options_test), #167708 and relatives (conflict_test). Not applicable: #146878 and
// #130123 (several forwards before a backward are the executor's), #121966 (Dynamo refuses or inlines the inner call
// before there is a graph), #103555 (a switch of PyTorch's debug backend).

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text.h"
#include "partition/bans.h"
#include "partition/plan_file.h"
#include "partition/tag_rules.h"
#include "unit/partition/pair_text.h"
#include "unit/partition/scenarios.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::arg;
using test::in_mode;
using test::modes;
using test::Split;
using Names = std::vector<std::string>;

Split good_split(const std::string& name, const PartitionOptions& options) {
  Split result = test::split(test::scenario(name), options);
  test::expect_good(result);
  return result;
}

bool contains(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

bool runs(const Graph& part, const std::string& name) {
  const NodeId id = part.find(name);
  return id != graph::kNoNode && part[id].kind == graph::NodeKind::kCallFunction;
}

/// Random operators of the forward that run in both halves.
Names drawn_twice(const Split& split) {
  Names twice;
  const JointView view = view_joint(split.joint, true);
  for (const NodeId id : view.order)
    if (view.draws(id) && runs(split.parts.forward, split.joint[id].name) &&
        runs(split.parts.backward, split.joint[id].name))
      twice.push_back(split.joint[id].name);
  return twice;
}

// #190758, #190717, awslabs/raf#33
TEST(ScenariosReports, NothingRandomIsDrawnTwiceUnderABudget) {
  for (const std::string name : {"compared_noise", "multinomial_rows", "bernoulli_mask"}) {
    bool wrong_in_pytorch = false;
    for (const double budget : {0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0}) {
      SCOPED_TRACE(name + " " + std::to_string(budget));
      EXPECT_EQ(drawn_twice(good_split(name, in_mode(Compatibility::kRepaired, budget))), Names{});
      const Split torch = test::split(test::scenario(name), in_mode(Compatibility::kTorch213, budget));
      if (drawn_twice(torch).empty()) continue;
      wrong_in_pytorch = true;
      EXPECT_NE(test::findings(torch), "");
    }
    EXPECT_TRUE(wrong_in_pytorch) << name;
  }
}

// #135459, huggingface/peft#3020
TEST(ScenariosReports, DropoutThatNoGradientNeedsStaysInTheForward) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("dropout_no_gradient_needs", in_mode(mode));
    EXPECT_EQ(split.forward_calls("aten.native_dropout.default"), 1);
    EXPECT_EQ(drawn_twice(split), Names{});
    EXPECT_EQ(split.backward_calls("higher_order.run_with_rng_state"), 0);
  }
}

// #197039
TEST(ScenariosReports, ABufferThatChangesIsNotReadAgain) {
  for (const double budget : {0.0, 0.3, 1.0}) {
    const Split split = good_split("buffer_changed_after_use", in_mode(Compatibility::kRepaired, budget));
    EXPECT_EQ(split.forward_calls("aten.copy_.default"), 1);
    EXPECT_EQ(split.backward_calls("aten.sin.default"), 0) << budget;
    EXPECT_TRUE(contains(split.saved(), "sin")) << budget;
  }
  // PyTorch saves the buffer, and its backward gets the new value.
  const Split torch = test::split(test::scenario("buffer_changed_after_use"), in_mode(Compatibility::kTorch213));
  EXPECT_EQ(torch.backward_calls("aten.sin.default"), 1);
  EXPECT_NE(test::findings(torch).find("mutation-not-read-late"), std::string::npos);
}

// #129130, #127561
TEST(ScenariosReports, WritesOfTheBackwardStayThere) {
  for (const Compatibility mode : modes()) {
    const Split one = good_split("changed_in_the_backward", in_mode(mode));
    EXPECT_EQ(one.forward_calls("aten.copy_.default"), 0);
    EXPECT_EQ(one.backward_calls("aten.copy_.default"), 1);
    const Split both = good_split("changed_in_both_halves", in_mode(mode));
    EXPECT_EQ(both.forward_calls("aten.copy_.default"), 1);
    EXPECT_EQ(both.backward_calls("aten.copy_.default"), 1);
    EXPECT_TRUE(contains(both.saved(), "mul")) << "what the forward writes, since the backward writes on";
  }
}

// #134002
TEST(ScenariosReports, WhatMustRunInTheBackwardIsNoSavedValue) {
  for (const Compatibility mode : modes()) {
    for (const std::string name : {"pa18_effect", "changed_in_both_halves"}) {
      const Split split = good_split(name, in_mode(mode));
      for (const std::string& saved : split.saved()) {
        const auto tag = split.joint[split.joint.find(saved)].meta->partitioner_tag;
        EXPECT_NE(tag, graph::PartitionerTag::kMustBeInBackward) << saved;
      }
    }
  }
}

// #164577: reading it again is right only from a fresh copy; the proof says whether it is.
TEST(ScenariosReports, WhatWasReadBeforeAWriteIsNotReadAfterIt) {
  const Split split = good_split("changed_after_a_use", in_mode(Compatibility::kRepaired));
  EXPECT_EQ(split.forward_calls("aten.mul_.Tensor"), 1);
  EXPECT_EQ(split.backward_calls("aten.mul_.Tensor"), 0);
}

// allenai/OLMo-core#828
TEST(ScenariosReports, ACheckpointReplaysItsRandomNumbersByDefault) {
  const Split split = good_split("pa14_dropout", {});
  EXPECT_EQ(split.forward_calls("higher_order.run_and_save_rng_state"), 1);
  EXPECT_EQ(split.backward_calls("higher_order.run_with_rng_state"), 1);
}

// #170665
TEST(ScenariosReports, AnObjectThatBothHalvesReadIsHandedOverApart) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({8})));
  const NodeId object = g.placeholder("primals_2", graph::Value(graph::OpaqueValue{"a queue"}));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({8})));
  const NodeId y = g.call("mine.push.default", {arg(object), arg(x)}, graph::Value(b.tensor({8})));
  const NodeId grad = g.call("mine.pop.default", {arg(object), arg(tangent)}, graph::Value(b.tensor({8})));
  g.meta(grad).partitioner_tag = graph::PartitionerTag::kBackward;
  g.output({y, grad, graph::kNoNode});
  g.num_forward_outputs = 1;
  for (const Compatibility mode : modes()) {
    const Split split = test::split(g, in_mode(mode));
    EXPECT_TRUE(split.plan.saved.empty());
    ASSERT_EQ(split.plan.saved_objects.size(), 1u);
    EXPECT_EQ(split.plan.saved_objects[0].node, object);
    EXPECT_EQ(split.plan.saved_objects[0].bytes, 0);
    EXPECT_EQ(split.outputs().back(), "primals_2");
  }
}

// #143876
TEST(ScenariosReports, AssertionsAreNoValuesWithoutTheListOfCheapOperators) {
  for (const Compatibility mode : modes()) {
    PartitionOptions options = in_mode(mode);
    options.ban_recompute_not_in_allowlist = false;
    options.aggressive_recomputation = true;
    const Split split = test::split(test::scenario("checked_unknown_size"), options);
    test::expect_sound(split.parts.backward);
    EXPECT_EQ(split.forward_calls("aten._assert_scalar.default"), 2);
    for (const std::string& name : split.saved()) EXPECT_EQ(name.find("assert"), std::string::npos) << name;
  }
}

// #105489, #114036, #129295
TEST(ScenariosReports, ProductsThatMustBeRecomputedAre) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("ac7_products_must_recompute", in_mode(mode));
    EXPECT_FALSE(contains(split.saved(), "mm"));
    EXPECT_FALSE(contains(split.saved(), "mm_1"));
  }
}

// #86346, #86425
TEST(ScenariosReports, ATensorIsNotSavedForItsSize) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("pa9_size_of_a_sum", in_mode(mode));
    EXPECT_TRUE(split.plan.saved.empty());
    EXPECT_EQ(split.plan.saved_symbols.size(), 2u);
  }
}

// #96653
TEST(ScenariosReports, WhatIsNoIntegerIsNotHandedOver) {
  for (const Compatibility mode : modes()) {
    const Split split = good_split("division_by_a_size", in_mode(mode));
    for (const SavedValue& value : split.plan.saved_symbols)
      EXPECT_TRUE(split.joint[value.node].val->as<graph::SymIntValue>()) << split.joint[value.node].name;
  }
}

/// Symbols of the values in `graph` that no placeholder of it binds.
Names unbound(const Graph& graph) {
  Names bound;
  for (const NodeId id : graph.placeholders()) {
    if (!graph[id].val) continue;
    if (const auto* symbol = graph[id].val->as<graph::SymIntValue>()) bound.push_back(symbol->expr.str());
  }
  Names free;
  for (const NodeId id : graph.order()) {
    if (graph[id].kind == graph::NodeKind::kPlaceholder || !graph[id].tensor()) continue;
    for (const graph::SymExpr& size : graph[id].tensor()->shape)
      for (const std::string& symbol : size.free_symbols())
        if (!contains(bound, symbol) && !contains(free, symbol)) free.push_back(symbol);
  }
  return free;
}

// #99089, #185473
TEST(ScenariosReports, EverySymbolOfTheBackwardIsBound) {
  for (const std::string name :
       {"expression_of_two_sizes", "size_replaced_by_twice_another", "equal_dynamic_sizes", "division_by_a_size"}) {
    for (const Compatibility mode : modes()) {
      SCOPED_TRACE(name + " " + test::mode_name(mode));
      EXPECT_EQ(unbound(good_split(name, in_mode(mode)).parts.backward), Names{});
    }
  }
}

// #147561
TEST(ScenariosReports, CollectivesAreNeverRepeatedUnlessTheUserCheckpointedThem) {
  const std::string reduce = "_c10d_functional.all_reduce.default";
  for (const Compatibility mode : modes()) {
    for (const double budget : {0.01, 0.1, 0.5, 1.0}) {
      SCOPED_TRACE(test::mode_name(mode) + " " + std::to_string(budget));
      const Split plain = good_split("reduced_between_products", in_mode(mode, budget));
      EXPECT_EQ(plain.forward_calls(reduce), 1);
      EXPECT_EQ(plain.backward_calls(reduce), 0);
      const Split marked = test::split(test::scenario("reduced_in_a_region"), in_mode(mode, budget));
      EXPECT_EQ(marked.backward_calls(reduce), 1);
    }
  }
}

// meta-pytorch/autoparallel#485 and relatives
TEST(ScenariosReports, APlanOfGatheredWeightsIsReplayedAsItIs) {
  const std::string gather = "_c10d_functional.all_gather_into_tensor.default";
  for (const Compatibility mode : modes()) {
    const PartitionOptions options = in_mode(mode);
    const Split split = test::split(test::scenario("gathered_weights_in_regions"), options);
    // Products are recomputed, so their gathered weights are gathered again instead of being kept.
    EXPECT_EQ(split.backward_calls(gather), 2);
    for (const std::string& name : split.saved())
      EXPECT_FALSE(name.starts_with("all_gather") || name.starts_with("wait_tensor")) << name;
    Graph again = test::scenario("gathered_weights_in_regions");
    const PinnedPlan pinned = read_plan(print_plan(split.joint, split.plan, options), again);
    const ForwardBackward parts = extract(again, pinned.plan);
    EXPECT_EQ(graph::print_text(parts.forward), graph::print_text(split.parts.forward));
    EXPECT_EQ(graph::print_text(parts.backward), graph::print_text(split.parts.backward));
  }
}

}  // namespace
}  // namespace sapwood::partition
