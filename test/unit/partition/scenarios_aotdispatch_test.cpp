// Splits of small functions with the numbers that PyTorch's own tests state (test_aotdispatch.py).
//
// Not here: a backward that is split again for its weights (upstream's two switches of that belong to its pipeline
// schedules; nothing here splits a backward); static input indices under effect tokens (a wrapper of AOTAutograd that
// runs before a partitioner); whether numbers equal eager's (test/e2e runs what the checker proves here); a no-grad
// call (it has no joint graph); the names of eight-bit copies (quantize_test).

#include <gtest/gtest.h>

#include "partition/flow_network.h"
#include "partition/tag_rules.h"
#include "unit/partition/pair_text.h"
#include "unit/partition/scenarios.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using test::in_mode;
using test::modes;
using test::Split;
using Counts = std::vector<size_t>;
using Names = std::vector<std::string>;

struct Row {
  std::string name;
  Method method;
  Counts counts;  ///< inputs and outputs of the forward, of the backward
  Names saved;    ///< in the order in which they are handed over
};

const Row kRows[] = {
    {"pa1_sines", Method::kMinCut, {2, 2, 2, 2}, {"primals_1"}},
    {"pa4_layer_norm",
     Method::kDefault,
     {3, 6, 6, 3},
     {"primals_1", "primals_2", "primals_3", "getitem_1", "getitem_2"}},
    {"pa7_two_cosines", Method::kMinCut, {1, 2, 2, 1}, {"primals_1"}},
    {"pa8_sum_of_two", Method::kMinCut, {2, 2, 2, 2}, {"add"}},
    {"pa12_three_cosines", Method::kMinCut, {1, 2, 2, 1}, {"primals_1"}},
    {"pa13_sum_of_four", Method::kMinCut, {4, 2, 2, 4}, {"add_2"}},
};

TEST(ScenariosAotDispatch, SaveWhatIsStated) {
  for (const Row& row : kRows) {
    for (const Compatibility mode : modes()) {
      SCOPED_TRACE(row.name + " " + test::mode_name(mode));
      PartitionOptions options = in_mode(mode);
      options.method = row.method;
      const Split split = test::split(test::scenario(row.name), options);
      EXPECT_EQ(split.counts(), row.counts);
      EXPECT_EQ(split.saved(), row.saved);
      test::expect_good(split);
    }
  }
}

/// Which outputs of the forward are symbols, a letter each.
std::string symbol_mask(const Graph& forward) {
  std::string mask;
  for (const NodeId id : forward.output_values()) mask += forward[id].val->as<graph::SymIntValue>() ? 'T' : 'F';
  return mask;
}

TEST(ScenariosAotDispatch, SizesAreSavedInsteadOfTensorsAndComeLast) {
  struct {
    std::string name;
    Method method;
    Counts counts;
    std::string mask;
  } const rows[] = {
      {"pa9_size_of_a_sum", Method::kMinCut, {1, 3, 3, 1}, "FTT"},
      {"pa10_expand_and_cat", Method::kMinCut, {3, 4, 4, 3}, "FTTT"},
      {"pa11_sizes_among_outputs", Method::kDefault, {4, 13, 10, 4}, "FTTFFFFFFTTTT"},
      {"pa11_sizes_among_outputs", Method::kMinCut, {4, 12, 9, 4}, "FTTFFFFFFTTT"},
  };
  for (const auto& row : rows) {
    for (const Compatibility mode : modes()) {
      SCOPED_TRACE(row.name + " " + test::mode_name(mode));
      PartitionOptions options = in_mode(mode);
      options.method = row.method;
      const Split split = test::split(test::scenario(row.name), options);
      EXPECT_EQ(split.counts(), row.counts);
      EXPECT_EQ(symbol_mask(split.parts.forward), row.mask);
      test::expect_good(split);
    }
  }
}

TEST(ScenariosAotDispatch, RecomputedCallsAreMarkedAsBackwardAndKeepTheTagOfTheForward) {
  for (const Method method : {Method::kDefault, Method::kMinCut}) {
    for (const Compatibility mode : modes()) {
      PartitionOptions options = in_mode(mode);
      options.method = method;
      const Split split = test::split(test::scenario("pa2_forced_recomputation"), options);
      test::expect_good(split);
      ASSERT_FALSE(split.plan.recomputed.empty());
      for (const RecomputedValue& value : split.plan.recomputed) {
        const NodeId id = split.parts.backward.find(split.joint[value.node].name);
        ASSERT_NE(id, graph::kNoNode);
        EXPECT_EQ(split.parts.backward[id].meta->partitioner_tag, graph::PartitionerTag::kForward);
        EXPECT_TRUE(split.parts.backward[id].meta->autograd_backward);
      }
    }
  }
}

TEST(ScenariosAotDispatch, EveryNodeKeepsItsTensorMetadata) {
  for (const Compatibility mode : modes()) {
    const Split split = test::split(test::scenario("pa3_in_place"), in_mode(mode));
    test::expect_good(split);
    for (const Graph* part : {&split.parts.forward, &split.parts.backward})
      for (const NodeId id : part->order()) {
        const Node& node = (*part)[id];
        if (node.kind == graph::NodeKind::kOutput) continue;
        EXPECT_TRUE(node.tensor()) << node.name;
        EXPECT_TRUE(node.kind == graph::NodeKind::kPlaceholder || node.meta->tensor_meta) << node.name;
      }
  }
}

TEST(ScenariosAotDispatch, GetitemsStandBehindTheirSplitInTheirOldOrder) {
  for (const Compatibility mode : modes()) {
    const Split split = test::split(test::scenario("pa6_split"), in_mode(mode));
    test::expect_good(split);
    EXPECT_EQ(split.saved(), Names{"primals_1"});
    const Graph& backward = split.parts.backward;
    const NodeId at = backward.find("split");
    ASSERT_NE(at, graph::kNoNode);
    // The gradient of the second piece comes first, so its getitem did before both were moved.
    EXPECT_EQ(backward[backward[at].next].name, "getitem_1");
    EXPECT_EQ(backward[backward[backward[at].next].next].name, "getitem");
  }
}

TEST(ScenariosAotDispatch, APlanThatACallerMadeIsCarriedOut) {
  Split split = test::split(test::scenario("pa7_two_cosines"), {});
  Plan own;
  own.saved.push_back({split.joint.find("primals_1"), 32, "the caller's choice", true, false, {}});
  split.parts = extract(split.joint, own);
  test::expect_good(split);
  EXPECT_EQ(split.outputs(), (Names{"cos_1", "primals_1"}));
  EXPECT_EQ(split.backward_calls("aten.cos.default"), 1);
}

TEST(ScenariosAotDispatch, StaticInputsAreSavedInsteadOfTheirSum) {
  for (const Compatibility mode : modes()) {
    Graph joint = test::scenario("pa8_sum_of_two");
    joint.static_lifetime_inputs = {0, 1};
    const Split split = test::split(joint, in_mode(mode));
    test::expect_good(split);
    EXPECT_EQ(split.saved(), (Names{"primals_1", "primals_2"}));
  }
}

TEST(ScenariosAotDispatch, ContiguousCopiesAndReplayedDropoutAreProven) {
  for (const Compatibility mode : modes()) {
    test::expect_good(test::split(test::scenario("pa14_contiguous"), in_mode(mode)));
    const Split dropout = test::split(test::scenario("pa14_dropout"), in_mode(mode));
    test::expect_good(dropout);
    EXPECT_EQ(dropout.forward_calls("higher_order.run_and_save_rng_state"), 1);
    EXPECT_EQ(dropout.backward_calls("higher_order.run_with_rng_state"), 1);
    EXPECT_EQ(dropout.backward_calls("aten.native_dropout.default"), 1);
  }
}

TEST(ScenariosAotDispatch, AMeanReturnedAsGradientIsNoConflict) {
  for (const Compatibility mode : modes()) {
    const Split split = test::split(test::scenario("pa17_mean_as_gradient"), in_mode(mode));
    test::expect_good(split);
    EXPECT_EQ(split.saved(), Names{"getitem_1"});
  }
}

TEST(ScenariosAotDispatch, ResultsOfEffectsAreToBeSaved) {
  for (const auto& [name, results] :
       {std::pair<std::string, Names>{"pa18_effect", {"getitem", "getitem_1"}},
        {"pa18_effect_with_three_results", {"getitem", "getitem_1", "getitem_2", "getitem_3"}}}) {
    SCOPED_TRACE(name);
    const Graph joint = test::scenario(name);
    JointView view = view_joint(joint, true);
    apply_tag_rules(view, false);
    for (const std::string& result : results) EXPECT_TRUE(view.must_save(joint.find(result))) << result;
    for (const Compatibility mode : modes()) {
      const Split split = test::split(joint, in_mode(mode));
      test::expect_good(split);
      for (const NodeId id : split.parts.backward.order())
        if (split.parts.backward[id].is_call("higher_order.with_effects"))
          EXPECT_EQ(split.parts.backward[id].meta->partitioner_tag, graph::PartitionerTag::kBackward);
    }
  }
}

/// The conflict of a graph whose values of these names weigh infinitely.
std::optional<Conflict> conflict_of(const Graph& joint, const Names& not_to_be_saved) {
  JointView view = view_joint(joint, true);
  apply_tag_rules(view, false);
  const Classification classes = classify(view);
  MinCutSolution solution = solve_min_cut(view, classes, {}, {});
  for (const std::string& name : not_to_be_saved)
    solution.weights[static_cast<size_t>(joint.find(name))] = {0, true, "not to be saved"};
  return FlowNetwork(view, classes, solution.bans, solution.weights).conflict();
}

TEST(ScenariosAotDispatch, AFinitePathIsNoConflict) {
  EXPECT_FALSE(conflict_of(test::scenario("pa7_two_cosines"), {}));
  EXPECT_FALSE(conflict_of(test::scenario("pa7_two_cosines"), {"cos"}));
}

TEST(ScenariosAotDispatch, AnInfinitePathNamesEveryEdge) {
  const auto conflict = conflict_of(test::scenario("pa18_effect"), {"getitem_1", "sin_1", "neg"});
  ASSERT_TRUE(conflict);
  ASSERT_EQ(conflict->steps.size(), 5u) << conflict->path;
  EXPECT_EQ(conflict->steps.front().node, "with_effects");
  EXPECT_EQ(conflict->path,
            "source -> with_effects_in -> with_effects_out -> getitem_1_in -> getitem_1_out -> sin_1_in -> sin_1_out "
            "-> neg_in -> neg_out -> mul_in -> sink");
  for (const ConflictStep& step : conflict->steps) EXPECT_FALSE(step.rules.empty()) << step.node;
}

TEST(ScenariosAotDispatch, AnInfinitePathGoesThroughADependency) {
  // The input may not be saved, and what reads it is to be recomputed.
  const auto conflict = conflict_of(test::scenario("pa2_forced_recomputation"), {"primals_1", "cos", "sin"});
  ASSERT_TRUE(conflict);
  ASSERT_EQ(conflict->steps.size(), 2u);
  EXPECT_EQ(conflict->path, "source -> primals_1_in -> primals_1_out -> cos_in -> sink");
  EXPECT_EQ(conflict->steps[1].rules[0], "reads 'primals_1'");
}

TEST(ScenariosOther, EightBitCastsAreRepeatedWhereParametersAreFree) {
  for (const Compatibility mode : modes()) {
    for (const bool is_free : {true, false}) {
      PartitionOptions options = in_mode(mode);
      options.treat_parameters_as_free_to_save = is_free;
      const Split split = test::split(test::scenario("other_fp8_linear"), options);
      test::expect_good(split);
      int64_t casts = split.backward_calls("prims.convert_element_type.default");
      casts += split.backward_calls("aten._to_copy.default");
      EXPECT_EQ(casts, is_free ? 5 : 4);
    }
  }
}

TEST(ScenariosOther, OneBodyServesBothCallsOfARegion) {
  for (const Compatibility mode : modes()) {
    const Split body = test::split(test::scenario("other_regions_with_dropout.body1"), in_mode(mode));
    test::expect_good(body);
    ASSERT_EQ(body.outputs().size(), 3u);
    const Graph& forward = body.parts.forward;
    const NodeId mask = forward.output_values()[2];
    EXPECT_EQ(forward[mask].tensor()->dtype, graph::DType::kBool);
    const Split outer = test::split(test::scenario("other_regions_with_dropout"), in_mode(mode));
    test::expect_sound(outer.parts.forward);
    test::expect_sound(outer.parts.backward);
    EXPECT_EQ(outer.forward_calls("higher_order.invoke_subgraph"), 2);
    EXPECT_EQ(outer.backward_calls("higher_order.invoke_subgraph"), 2);
    EXPECT_EQ(outer.parts.forward.subgraphs.size(), 1u);
    EXPECT_EQ(outer.parts.backward.subgraphs.size(), 1u);
    EXPECT_EQ(outer.outputs().size(), 5u);  // the sum, and a mask and an input per call
    for (const Graph* part : {&outer.parts.forward, &outer.parts.backward})
      for (const NodeId id : part->order()) {
        const Node& node = (*part)[id];
        if (!node.is_call("operator.getitem")) continue;
        const Node& before = (*part)[node.prev];
        EXPECT_TRUE(before.is_call("operator.getitem") || before.is_call("higher_order.invoke_subgraph")) << node.name;
      }
  }
}

}  // namespace
}  // namespace sapwood::partition
