// Memory that is overwritten, effects, and what stands in for what.

#include <gtest/gtest.h>

#include "unit/check/written_pair.h"

namespace sapwood::check {
namespace {

using test::broken;
using test::with;
using test::WrittenPair;
using Rules = std::set<std::string>;

/// The gradient needs sin and cos of a buffer that the forward overwrites.
const WrittenPair kBuffer = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %primals_2 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %sin : float32[4] = aten.sin.default(%primals_2)
  %mul : float32[4] = aten.mul.Tensor(%primals_1, %sin)
  %cos : float32[4] = aten.cos.default(%primals_2)
  %mul_1 : float32[4] = aten.mul.Tensor(%tangents_1, %sin)
  %mul_2 : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  %add : float32[4] = aten.add.Tensor(%primals_2, 1)
  %copy_ : float32[4]<alias=%primals_2> = aten.copy_.default(%primals_2, %add)  # partitioner_tag=must_be_in_forward
  return (%mul, %mul_1, %mul_2))",
    R"(%primals_1 : float32[4] = placeholder
  %primals_2 : float32[4] = placeholder
  %sin : float32[4] = aten.sin.default(%primals_2)
  %mul : float32[4] = aten.mul.Tensor(%primals_1, %sin)
  %cos : float32[4] = aten.cos.default(%primals_2)
  %add : float32[4] = aten.add.Tensor(%primals_2, 1)
  %copy_ : float32[4]<alias=%primals_2> = aten.copy_.default(%primals_2, %add)
  return (%mul, %sin, %cos))",
    R"(%sin : float32[4] = placeholder
  %cos : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %mul_1 : float32[4] = aten.mul.Tensor(%tangents_1, %sin)
  %mul_2 : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%mul_1, %mul_2))"};

TEST(CheckMemory, SavingWhatIsReadBeforeTheWriteIsRight) { EXPECT_EQ(broken(kBuffer), Rules{}); }

TEST(CheckMemory, RecomputingBehindAWriteIsFound) {
  WrittenPair pair = kBuffer;
  pair.forward = with(pair.forward, "return (%mul, %sin, %cos)", "return (%mul, %sin, %primals_2)");
  pair.backward = with(pair.backward, "%cos : float32[4] = placeholder", "%primals_2 : float32[4] = placeholder");
  pair.backward = with(pair.backward, "  %mul_2 :", "  %cos : float32[4] = aten.cos.default(%primals_2)\n  %mul_2 :");
  const auto found = test::findings(pair);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "mutation-not-read-late");
  EXPECT_EQ(found[0].graph, "backward");
  EXPECT_EQ(found[0].node, "cos");
}

TEST(CheckMemory, ReadingBehindAWriteIsRightIfTheJointGraphDoes) {
  // The write comes first now, so saving the buffer is right and reading it earlier is wrong.
  WrittenPair pair = kBuffer;
  const std::string write =
      "  %add : float32[4] = aten.add.Tensor(%primals_2, 1)\n"
      "  %copy_ : float32[4]<alias=%primals_2> = aten.copy_.default(%primals_2, %add)";
  pair.joint = with(pair.joint, write + "  # partitioner_tag=must_be_in_forward\n", "");
  pair.joint = with(pair.joint, "  %cos :", write + "  # partitioner_tag=must_be_in_forward\n  %cos :");
  EXPECT_EQ(broken(pair), Rules{"mutation-not-read-late"});
  pair.forward = with(pair.forward, "  %cos : float32[4] = aten.cos.default(%primals_2)\n", "");
  pair.forward = with(pair.forward, "return (%mul, %sin, %cos)", "return (%mul, %sin, %primals_2)");
  pair.backward = with(pair.backward, "%cos : float32[4] = placeholder", "%primals_2 : float32[4] = placeholder");
  pair.backward = with(pair.backward, "  %mul_2 :", "  %cos : float32[4] = aten.cos.default(%primals_2)\n  %mul_2 :");
  EXPECT_EQ(broken(pair), Rules{});
}

TEST(CheckMemory, ASavedViewOfOverwrittenMemoryIsFound) {
  WrittenPair pair = kBuffer;
  const std::string view = "  %view : float32[4]<alias=%primals_2> = aten.view.default(%primals_2, [4])\n";
  pair.joint = with(pair.joint, "  %sin :", view + "  %sin :");
  pair.joint = with(pair.joint, "aten.mul.Tensor(%tangents_1, %cos)", "aten.mul.Tensor(%tangents_1, %view)");
  pair.forward = with(pair.forward, "  %sin :", view + "  %sin :");
  pair.forward = with(pair.forward, "return (%mul, %sin, %cos)", "return (%mul, %sin, %view)");
  pair.backward = with(pair.backward, "%cos : float32[4] = placeholder", "%view : float32[4] = placeholder");
  pair.backward = with(pair.backward, "(%tangents_1, %cos)", "(%tangents_1, %view)");
  EXPECT_EQ(broken(pair), Rules{"mutation-not-read-late"});
  // A copy that is made before the write is right, if the joint graph has it.
  for (std::string* text : {&pair.joint, &pair.forward}) {
    *text = with(*text, "  %sin :", "  %clone : float32[4] = aten.clone.default(%view)\n  %sin :");
  }
  pair.joint = with(pair.joint, "(%tangents_1, %view)", "(%tangents_1, %clone)");
  pair.forward = with(pair.forward, "return (%mul, %sin, %view)", "return (%mul, %sin, %clone)");
  pair.backward = with(pair.backward, "%view : float32[4] = placeholder", "%clone : float32[4] = placeholder");
  pair.backward = with(pair.backward, "(%tangents_1, %view)", "(%tangents_1, %clone)");
  EXPECT_EQ(broken(pair), Rules{});
}

TEST(CheckMemory, AWriteHappensOnceAndInItsPart) {
  const std::string write = "  %copy_ : float32[4]<alias=%primals_2> = aten.copy_.default(%primals_2, %add)\n";
  WrittenPair lost = kBuffer;
  lost.forward = with(lost.forward, write, "");
  EXPECT_EQ(broken(lost), Rules{"effect-once"});
  WrittenPair twice = kBuffer;
  twice.forward = with(twice.forward, write, write + with(write, "%copy_", "%copy__1"));
  EXPECT_EQ(broken(twice), Rules{"effect-once"});
  WrittenPair moved = kBuffer;
  moved.forward = with(moved.forward, write, "");
  moved.forward = with(moved.forward, "return (%mul, %sin, %cos)", "return (%mul, %sin, %cos, %primals_2, %add)");
  moved.backward = with(moved.backward, "  %tangents_1 :",
                        "  %primals_2 : float32[4] = placeholder\n  %add : float32[4] = placeholder\n  %tangents_1 :");
  moved.backward = with(moved.backward, "  return", write + "  return");
  EXPECT_EQ(broken(moved), Rules{"effect-once"});
}

/// A checkpointed region that works in place on memory of its own.
const WrittenPair kOwnMemory = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %clone : float32[4] = aten.clone.default(%primals_1)
  %add_ : float32[4]<alias=%clone> = aten.add_.Scalar(%clone, 1)
  %sin : float32[4] = aten.sin.default(%add_)
  %cos : float32[4] = aten.cos.default(%add_)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%sin, %mul))",
    R"(%primals_1 : float32[4] = placeholder
  %clone : float32[4] = aten.clone.default(%primals_1)
  %add_ : float32[4]<alias=%clone> = aten.add_.Scalar(%clone, 1)
  %sin : float32[4] = aten.sin.default(%add_)
  return (%sin, %primals_1))",
    R"(%primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %clone : float32[4] = aten.clone.default(%primals_1)
  %add_ : float32[4]<alias=%clone> = aten.add_.Scalar(%clone, 1)
  %cos : float32[4] = aten.cos.default(%add_)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%mul))"};

TEST(CheckMemory, WritingAgainIntoFreshMemoryIsRight) {
  for (const Finding& finding : test::findings(kOwnMemory)) ADD_FAILURE() << describe(finding);
}

TEST(CheckMemory, WritingAgainIntoSavedMemoryIsFound) {
  WrittenPair pair = kOwnMemory;
  pair.forward = with(pair.forward, "return (%sin, %primals_1)", "return (%sin, %clone)");
  pair.backward = with(pair.backward, "%primals_1 : float32[4] = placeholder\n", "%clone : float32[4] = placeholder\n");
  pair.backward = with(pair.backward, "  %clone : float32[4] = aten.clone.default(%primals_1)\n", "");
  EXPECT_EQ(broken(pair), Rules{"effect-once"});
}

TEST(CheckMemory, ForgettingTheWriteIntoFreshMemoryIsFound) {
  WrittenPair pair = kOwnMemory;
  pair.backward = with(pair.backward, "  %add_ : float32[4]<alias=%clone> = aten.add_.Scalar(%clone, 1)\n", "");
  pair.backward = with(pair.backward, "aten.cos.default(%add_)", "aten.cos.default(%clone)");
  EXPECT_NE(broken(pair), Rules{});
}

/// The backward writes a buffer behind a read.
const WrittenPair kWriteInBackward = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %sin : float32[4] = aten.sin.default(%primals_1)
  %cos : float32[4] = aten.cos.default(%primals_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  %copy_ : float32[4]<alias=%primals_1> = aten.copy_.default(%primals_1, %mul)  # partitioner_tag=must_be_in_backward
  return (%sin, %mul))",
    R"(%primals_1 : float32[4] = placeholder
  %sin : float32[4] = aten.sin.default(%primals_1)
  return (%sin, %primals_1))",
    R"(%primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %cos : float32[4] = aten.cos.default(%primals_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  %copy_ : float32[4]<alias=%primals_1> = aten.copy_.default(%primals_1, %mul)
  return (%mul))"};

TEST(CheckMemory, AWriteOfTheBackwardComesBehindItsReads) {
  EXPECT_EQ(broken(kWriteInBackward), Rules{});
  WrittenPair pair = kWriteInBackward;
  const std::string late =
      "  %cos_1 : float32[4] = aten.cos.default(%primals_1)\n"
      "  %mul_1 : float32[4] = aten.mul.Tensor(%tangents_1, %cos_1)\n";
  pair.backward = with(pair.backward, "  return (%mul)", late + "  return (%mul_1)");
  EXPECT_TRUE(broken(pair).contains("mutation-not-read-late"));
}

TEST(CheckMemory, AnArgumentStandsInForAResultOfTheBackward) {
  WrittenPair pair = kWriteInBackward;
  pair.joint = with(pair.joint, "num_forward_outputs 1", "num_forward_outputs 2");
  pair.joint = with(pair.joint, "return (%sin, %mul)", "return (%sin, %copy_, %mul)");
  pair.forward = with(pair.forward, "return (%sin, %primals_1)", "return (%sin, %primals_1, %primals_1)");
  EXPECT_EQ(broken(pair), Rules{});
  pair.forward = with(pair.forward, "return (%sin, %primals_1, %primals_1)", "return (%sin, %sin, %primals_1)");
  EXPECT_EQ(broken(pair), Rules{"outputs-equal"});
}

/// An operator whose only result is its effect.
const WrittenPair kEffect = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %log : None = sapwood_test.log.default(%primals_1)
  %log_1 : None = sapwood_test.log.default(%primals_1)
  %sin : float32[4] = aten.sin.default(%primals_1)
  %cos : float32[4] = aten.cos.default(%primals_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%sin, %mul))",
    R"(%primals_1 : float32[4] = placeholder
  %log : None = sapwood_test.log.default(%primals_1)
  %log_1 : None = sapwood_test.log.default(%primals_1)
  %sin : float32[4] = aten.sin.default(%primals_1)
  return (%sin, %primals_1))",
    R"(%primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %cos : float32[4] = aten.cos.default(%primals_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%mul))"};

TEST(CheckMemory, AnEffectIsNeitherLostNorRepeatedNorReordered) {
  EXPECT_EQ(broken(kEffect), Rules{});
  const std::string second = "  %log_1 : None = sapwood_test.log.default(%primals_1)\n";
  WrittenPair lost = kEffect;
  lost.forward = with(lost.forward, second, "");
  EXPECT_EQ(broken(lost), Rules{"effect-once"});
  WrittenPair thrice = kEffect;
  thrice.forward = with(thrice.forward, second, second + with(second, "%log_1", "%log_2"));
  EXPECT_EQ(broken(thrice), Rules{"effect-once"});
  WrittenPair again = kEffect;
  again.backward = with(again.backward, "  %cos :", second + "  %cos :");
  EXPECT_EQ(broken(again), Rules{"effect-once"});
  WrittenPair reordered = kEffect;
  reordered.forward = with(reordered.forward, second, "");
  reordered.forward = with(reordered.forward, "  %log :", second + "  %log :");
  EXPECT_EQ(broken(reordered), Rules{"effect-once"});
}

/// A collective in a checkpointed region.
const WrittenPair kCollective = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %all_reduce : float32[4] = _c10d_functional.all_reduce.default(%primals_1, "sum", "0")  # recompute=MUST_RECOMPUTE
  %wait_tensor : float32[4] = _c10d_functional.wait_tensor.default(%all_reduce)
  %sin : float32[4] = aten.sin.default(%wait_tensor)
  %cos : float32[4] = aten.cos.default(%wait_tensor)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%sin, %mul))",
    R"(%primals_1 : float32[4] = placeholder
  %all_reduce : float32[4] = _c10d_functional.all_reduce.default(%primals_1, "sum", "0")
  %wait_tensor : float32[4] = _c10d_functional.wait_tensor.default(%all_reduce)
  %sin : float32[4] = aten.sin.default(%wait_tensor)
  return (%sin, %primals_1))",
    R"(%primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %all_reduce : float32[4] = _c10d_functional.all_reduce.default(%primals_1, "sum", "0")
  %wait_tensor : float32[4] = _c10d_functional.wait_tensor.default(%all_reduce)
  %cos : float32[4] = aten.cos.default(%wait_tensor)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%mul))"};

TEST(CheckMemory, OnlyTheUsersMarkPermitsASecondCollective) {
  EXPECT_EQ(broken(kCollective), Rules{});
  WrittenPair pair = kCollective;
  pair.joint = with(pair.joint, "  # recompute=MUST_RECOMPUTE", "");
  EXPECT_EQ(broken(pair), Rules{"effect-once"});
}

TEST(CheckMemory, ACollectiveThatNobodyReadsMayVanish) {
  WrittenPair pair = kEffect;
  pair.joint = with(pair.joint, "  return",
                    "  %all_reduce : float32[4] = _c10d_functional.all_reduce.default(%primals_1, \"sum\", \"0\")\n"
                    "  return");
  EXPECT_EQ(broken(pair), Rules{});
}

/// Tokens put effects in order.
const WrittenPair kTokens = {
    R"(num_forward_outputs 2
  %primals_1 : float32[0] = placeholder
  %primals_2 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %with_effects : (float32[0], float32[4]) = higher_order.with_effects(%primals_1, operator("sapwood_test.log.default"), %primals_2)
  %getitem : float32[0] = operator.getitem(%with_effects, 0)
  %getitem_1 : float32[4] = operator.getitem(%with_effects, 1)
  %cos : float32[4] = aten.cos.default(%getitem_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%getitem, %getitem_1, %mul))",
    R"(%primals_1 : float32[0] = placeholder
  %primals_2 : float32[4] = placeholder
  %with_effects : (float32[0], float32[4]) = higher_order.with_effects(%primals_1, operator("sapwood_test.log.default"), %primals_2)
  %getitem : float32[0] = operator.getitem(%with_effects, 0)
  %getitem_1 : float32[4] = operator.getitem(%with_effects, 1)
  return (%getitem, %getitem_1, %getitem_1))",
    R"(%getitem_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %cos : float32[4] = aten.cos.default(%getitem_1)
  %mul : float32[4] = aten.mul.Tensor(%tangents_1, %cos)
  return (%mul))"};

TEST(CheckMemory, AnOperatorWithATokenRunsOnce) {
  EXPECT_EQ(broken(kTokens), Rules{});
  WrittenPair pair = kTokens;
  pair.forward = with(pair.forward, "return (%getitem, %getitem_1, %getitem_1)",
                      "return (%getitem, %getitem_1, %primals_1, %primals_2)");
  pair.backward = with(pair.backward, "%getitem_1 : float32[4] = placeholder\n",
                       "%primals_1 : float32[0] = placeholder\n  %primals_2 : float32[4] = placeholder\n");
  pair.backward = with(pair.backward, "  %cos :",
                       "  %with_effects : (float32[0], float32[4]) = higher_order.with_effects(%primals_1, "
                       "operator(\"sapwood_test.log.default\"), %primals_2)\n"
                       "  %getitem_1 : float32[4] = operator.getitem(%with_effects, 1)\n  %cos :");
  EXPECT_EQ(broken(pair), Rules{"effect-once"});
}

/// The gradient needs the size of an input; a symbol is told by a placeholder, or by a tensor that has it as a size.
const WrittenPair kSymbols = {
    R"(num_forward_outputs 1
  symbol s0 = 4
  %primals_1 : symint(s0) = placeholder
  %primals_2 : float32[s0, 2] = placeholder
  %tangents_1 : float32[] = placeholder
  %sum_1 : float32[] = aten.sum.default(%primals_2)
  %expand : float32[s0, 2]{0, 0}<alias=%tangents_1> = aten.expand.default(%tangents_1, [%primals_1, 2])
  %exp : float32[s0, 2] = aten.exp.default(%expand)
  return (%sum_1, None, %exp))",
    R"(symbol s0 = 4
  %primals_1 : symint(s0) = placeholder
  %primals_2 : float32[s0, 2] = placeholder
  %sum_1 : float32[] = aten.sum.default(%primals_2)
  return (%sum_1, %primals_1))",
    R"(symbol s0 = 4
  %primals_1 : symint(s0) = placeholder
  %tangents_1 : float32[] = placeholder
  %expand : float32[s0, 2]{0, 0}<alias=%tangents_1> = aten.expand.default(%tangents_1, [%primals_1, 2])
  %exp : float32[s0, 2] = aten.exp.default(%expand)
  return (None, %exp))"};

TEST(CheckMemory, EverySymbolIsBound) {
  EXPECT_EQ(broken(kSymbols), Rules{});
  WrittenPair pair = kSymbols;
  pair.forward = with(pair.forward, "return (%sum_1, %primals_1)", "return (%sum_1)");
  pair.backward = with(pair.backward, "  %primals_1 : symint(s0) = placeholder\n", "");
  pair.backward = with(pair.backward, "[%primals_1, 2]", "[4, 2]");
  const auto found = test::findings(pair);
  EXPECT_EQ(broken(found), (Rules{"symbols-bound", "node-from-joint"}));
  EXPECT_EQ(found.back().node, "expand") << describe(found.back());
}

TEST(CheckMemory, AssertionsAndWaitsMayRunTwice) {
  WrittenPair pair = kEffect;
  for (std::string* text : {&pair.joint, &pair.forward, &pair.backward}) {
    const std::string check = "  %assert_1 : None = aten._assert_async.default(%primals_1)\n";
    *text = with(*text, "  return", check + "  return");
  }
  EXPECT_EQ(broken(pair), Rules{});
}

}  // namespace
}  // namespace sapwood::check
