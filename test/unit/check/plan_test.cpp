// Plans by names, of any planner.

#include <gtest/gtest.h>

#include "unit/check/written_pair.h"

namespace sapwood::check {
namespace {

using test::broken;
using Rules = std::set<std::string>;

const std::string kJoint = R"(num_forward_outputs 1
  symbol s0 = 4
  %primals_1 : symint(s0) = placeholder
  %primals_2 : float32[s0] = placeholder
  %primals_3 : float32[s0] = placeholder
  %tangents_1 : float32[s0] = placeholder
  %rand : float32[s0] = aten.rand.default([%primals_1])
  %gt : bool[s0] = aten.gt.Scalar(%rand, 0.5)
  %all_reduce : float32[s0] = _c10d_functional.all_reduce.default(%primals_2, "sum", "0")
  %wait_tensor : float32[s0] = _c10d_functional.wait_tensor.default(%all_reduce)
  %mul : float32[s0] = aten.mul.Tensor(%wait_tensor, %gt)
  %sin : float32[s0] = aten.sin.default(%primals_3)
  %add : float32[s0] = aten.add.Tensor(%mul, %sin)
  %mul_1 : float32[s0] = aten.mul.Tensor(%tangents_1, %gt)
  %mul_2 : float32[s0] = aten.mul.Tensor(%mul_1, %wait_tensor)
  %cos : float32[s0] = aten.cos.default(%primals_3)
  %mul_3 : float32[s0] = aten.mul.Tensor(%mul_2, %cos)
  %copy_ : float32[s0]<alias=%primals_3> = aten.copy_.default(%primals_3, %add)  # partitioner_tag=must_be_in_forward
  return (%add, %mul_3))";

Rules broken_by(const PlanFacts& plan) { return broken(check_plan(test::written(kJoint), plan)); }

TEST(CheckPlan, ARightPlanHasNoFindings) {
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos"}}), Rules{});
  EXPECT_EQ(broken_by({.saved = {"rand", "wait_tensor", "cos"}, .recomputed = {"gt"}}), Rules{});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos"}, .offloaded = {"cos"}}), Rules{});
}

TEST(CheckPlan, NamesAreForwardValuesOfTheRightKind) {
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos", "nobody"}}), Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos", "mul_1"}}), Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos", "tangents_1"}}), Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos", "primals_1"}}), Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos"}, .saved_symbols = {"gt"}}),
            Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos"}, .offloaded = {"sin"}}), Rules{"insertion-paired"});
}

TEST(CheckPlan, InputsAreSaved) {
  const auto found = check_plan(test::written(kJoint), {.saved = {"gt", "cos"}, .recomputed = {}});
  EXPECT_TRUE(broken(found).contains("backward-input-exists"));
  EXPECT_EQ(found.front().node, "primals_2");
}

TEST(CheckPlan, NothingIsDrawnOrSentTwice) {
  EXPECT_EQ(broken_by({.saved = {"wait_tensor", "cos"}, .saved_symbols = {"primals_1"}}), Rules{"random-once"});
  EXPECT_EQ(broken_by({.saved = {"gt", "primals_2", "cos"}}), Rules{"effect-once"});
  EXPECT_EQ(broken_by({.saved = {"gt", "all_reduce", "cos"}}), Rules{}) << "waiting twice is allowed";
}

TEST(CheckPlan, AMarkOfTheUserPermitsTheSecondRun) {
  graph::Graph joint = test::written(kJoint);
  for (const char* name : {"rand", "all_reduce"})
    joint.meta(joint.find(name)).recompute = graph::CheckpointPolicy::kMustRecompute;
  EXPECT_EQ(broken(check_plan(joint, {.saved = {"primals_2", "cos"}, .saved_symbols = {"primals_1"}})), Rules{});
}

TEST(CheckPlan, OverwrittenMemoryIsNotReadLate) {
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "primals_3"}}), Rules{"mutation-not-read-late"});
}

TEST(CheckPlan, AListOfRecomputedValuesIsComplete) {
  EXPECT_EQ(broken_by({.saved = {"rand", "all_reduce", "cos"}, .recomputed = {"gt"}}), Rules{"backward-input-exists"});
  EXPECT_EQ(broken_by({.saved = {"gt", "wait_tensor", "cos"}, .recomputed = {"gt"}}), Rules{"backward-input-exists"});
}

}  // namespace
}  // namespace sapwood::check
