#include "partition/snapshot.h"

#include <gtest/gtest.h>

#include "check/check.h"
#include "partition/partition.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::arg;

/// y = exp(2 * buffer * x); the forward then adds one to the buffer. The gradient of x needs 2 * buffer.
Graph buffer_is_overwritten(test::StepBuilder& b) {
  Graph& g = b.step.graph;
  const NodeId buffer = g.placeholder("primals_1", graph::Value(b.tensor({4})));
  const NodeId x = g.placeholder("primals_2", graph::Value(b.tensor({4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
  const NodeId doubled = g.call("aten.mul.Tensor", {arg(buffer), 2}, graph::Value(b.tensor({4})), "doubled");
  const NodeId product = g.call("aten.mul.Tensor", {arg(doubled), arg(x)}, graph::Value(b.tensor({4})), "product");
  const NodeId exp = g.call("aten.exp.default", {arg(product)}, graph::Value(b.tensor({4})), "exp");
  const NodeId next = g.call("aten.add.Tensor", {arg(buffer), 1}, graph::Value(b.tensor({4})), "next");
  const NodeId inner = g.call("aten.mul.Tensor", {arg(tangent), arg(exp)}, graph::Value(b.tensor({4})), "inner");
  const NodeId grad = g.call("aten.mul.Tensor", {arg(inner), arg(doubled)}, graph::Value(b.tensor({4})), "grad");
  graph::TensorMeta same = b.tensor({4});
  same.storage = g[buffer].tensor()->storage;
  const NodeId write = g.call("aten.copy_.default", {arg(buffer), arg(next)}, graph::Value(same), "write");
  g.meta(write).partitioner_tag = graph::PartitionerTag::kMustBeInForward;
  g.output({exp, graph::kNoNode, grad});
  g.num_forward_outputs = 1;
  return g;
}

std::vector<std::string> saved_names(const Graph& joint, const Plan& plan) {
  std::vector<std::string> names;
  for (const SavedValue& value : plan.saved) names.push_back(joint[value.node].name);
  return names;
}

class Snapshot : public testing::TestWithParam<Method> {};

TEST_P(Snapshot, TheBackwardNeverReadsWhatTheForwardOverwrote) {
  test::StepBuilder b;
  const Graph original = buffer_is_overwritten(b);
  Graph joint = original;
  PartitionOptions options;
  options.method = GetParam();
  const Plan plan = partition(joint, options);
  for (const std::string& name : saved_names(joint, plan)) EXPECT_NE(name, "primals_1");
  const ForwardBackward parts = extract(joint, plan);
  for (const check::Finding& finding : check::check_pair(original, parts.forward, parts.backward))
    ADD_FAILURE() << check::describe(finding);
}

INSTANTIATE_TEST_SUITE_P(Methods, Snapshot, testing::Values(Method::kDefault, Method::kMinCut));

TEST(Snapshots, PyTorchSavesTheInputItselfAndIsConvicted) {
  test::StepBuilder b;
  const Graph original = buffer_is_overwritten(b);
  Graph joint = original;
  PartitionOptions options;
  options.compatibility = Compatibility::kTorch213;
  const ForwardBackward parts = extract(joint, partition(joint, options));
  const auto findings = check::check_pair(original, parts.forward, parts.backward);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().rule, "mutation-not-read-late");
}

TEST(Snapshots, AreTakenBackWhereNothingNeedsThem) {
  test::StepBuilder b;
  Graph joint = buffer_is_overwritten(b);
  ASSERT_TRUE(take_snapshots(joint));
  EXPECT_NE(joint.find("primals_1_snapshot"), graph::kNoNode);
  drop_snapshots(joint, {});
  EXPECT_EQ(joint.find("primals_1_snapshot"), graph::kNoNode);
  EXPECT_EQ(joint.inputs(joint.find("doubled")).front(), joint.find("primals_1"));
}

}  // namespace
}  // namespace sapwood::partition
