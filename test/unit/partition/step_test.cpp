#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "partition/partition.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::Graph;
using graph::InputRole;
using graph::JointGraph;
using graph::kNoNode;
using graph::NodeId;
using graph::OutputRole;
using graph::PartitionerTag;
using test::arg;
using test::StepBuilder;
using Names = std::set<std::string>;

/// loss = mean(gelu(dropout(x @ w.t())) * mask); w -= 0.1 * w.grad, with the gradient nodes as autograd records them.
JointGraph gelu_step() {
  StepBuilder b;
  const NodeId w = b.input("w", {64, 32}, InputRole::kParameter);
  const NodeId x = b.input("x", {16, 32}, InputRole::kUserInput);
  const NodeId wt = b.view("aten.t.default", w, {}, {32, 64});
  const NodeId mm = b.call("aten.mm.default", {arg(x), arg(wt)}, {16, 64});
  const NodeId noise = b.call("aten.bernoulli.p", {arg(mm), 0.5}, {16, 64});
  const NodeId scale = b.call("aten.full.default", {Argument::ints({16, 64}), 2.0}, {16, 64});
  const NodeId drop = b.call("aten.mul.Tensor", {arg(mm), arg(noise)}, {16, 64});
  const NodeId scaled = b.call("aten.mul.Tensor", {arg(drop), arg(scale)}, {16, 64});
  const NodeId gelu = b.call("aten.gelu.default", {arg(scaled)}, {16, 64});
  const NodeId flat = b.view("aten.view.default", gelu, {Argument::ints({1024})}, {1024});
  const NodeId square = b.call("aten.mul.Tensor", {arg(flat), arg(flat)}, {1024});
  const NodeId loss = b.call("aten.mean.default", {arg(square)}, {});

  b.part = PartitionerTag::kBackward;
  const NodeId seed = b.call("aten.ones_like.default", {arg(loss)}, {});
  const NodeId spread = b.view("aten.expand.default", seed, {Argument::ints({1024})}, {1024});
  const NodeId d_square = b.call("aten.mul.Tensor", {arg(spread), arg(flat)}, {1024});
  const NodeId d_gelu = b.view("aten.view.default", d_square, {Argument::ints({16, 64})}, {16, 64});
  const NodeId d_scaled = b.call("aten.gelu_backward.default", {arg(d_gelu), arg(scaled)}, {16, 64});
  const NodeId d_drop = b.call("aten.mul.Tensor", {arg(d_scaled), arg(scale)}, {16, 64});
  const NodeId d_mm = b.call("aten.mul.Tensor", {arg(d_drop), arg(noise)}, {16, 64});
  const NodeId d_mm_t = b.view("aten.t.default", d_mm, {}, {64, 16});
  const NodeId grad = b.call("aten.mm.default", {arg(d_mm_t), arg(x)}, {64, 32});

  b.part = PartitionerTag::kOptimizer;
  const NodeId change = b.call("aten.mul.Tensor", {arg(grad), 0.1}, {64, 32});
  const NodeId updated = b.call("aten.sub.Tensor", {arg(w), arg(change)}, {64, 32});
  b.output(loss, OutputRole::kUserOutput);
  b.output(updated, OutputRole::kWriteBack, w);
  return b.finish();
}

Names saved_names(const JointGraph& step, const Plan& plan, bool inputs_too = false) {
  Names names;
  for (const SavedValue& value : plan.saved)
    if (inputs_too || !value.is_input) names.insert(step.graph[value.node].name);
  return names;
}

Names recomputed_names(const JointGraph& step, const Plan& plan) {
  Names names;
  for (const RecomputedValue& value : plan.recomputed) names.insert(step.graph[value.node].name);
  return names;
}

/// Names of the nodes that `name` reads.
Names reads(const Graph& graph, const std::string& name) {
  Names names;
  for (const NodeId id : graph.inputs(graph.find(name))) names.insert(graph[id].name);
  return names;
}

PartitionOptions with_method(Method method) {
  PartitionOptions options;
  options.method = method;
  return options;
}

PartitionOptions free_only() {
  PartitionOptions options;
  options.recompute_only_free = true;
  return options;
}

/// No backward or optimizer node reads a forward value that isn't saved, an input or a constant.
void expect_reads_only_saved(const JointGraph& scheduled, const Names& saved) {
  for (const NodeId id : scheduled.graph.order()) {
    const PartitionerTag tag = scheduled.graph[id].meta->partitioner_tag;
    if (tag != PartitionerTag::kBackward && tag != PartitionerTag::kOptimizer) continue;
    for (const NodeId read : scheduled.graph.inputs(id)) {
      const graph::Node& node = scheduled.graph[read];
      if (node.kind != graph::NodeKind::kCallFunction || node.meta->partitioner_tag != PartitionerTag::kForward)
        continue;
      EXPECT_TRUE(saved.contains(node.name)) << scheduled.graph[id].name << " reads " << node.name;
    }
  }
}

TEST(PartitionStep, DefaultSavesWhatTheBackwardReads) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, with_method(Method::kDefault));
  EXPECT_EQ(saved_names(step, plan), (Names{"bernoulli", "full", "mul_1", "view", "mean"}));
  EXPECT_EQ(saved_names(step, plan, true).contains("x"), true) << "inputs are listed";
  EXPECT_TRUE(plan.recomputed.empty());
}

TEST(PartitionStep, FreeOnlyRecomputesViewsAndConstants) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, free_only());
  EXPECT_EQ(saved_names(step, plan), (Names{"bernoulli", "mul_1", "gelu", "mean"}));
  EXPECT_EQ(recomputed_names(step, plan), (Names{"full", "view"}));
  for (const RecomputedValue& value : plan.recomputed) EXPECT_FALSE(value.reason.empty());
}

TEST(PartitionStep, MinCutNeverDrawsAgain) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, with_method(Method::kMinCut));
  EXPECT_TRUE(saved_names(step, plan).contains("bernoulli"));
  EXPECT_TRUE(saved_names(step, plan).contains("mm"));
  EXPECT_FALSE(recomputed_names(step, plan).contains("mm"));
  EXPECT_TRUE(recomputed_names(step, plan).contains("gelu"));
}

TEST(PartitionStep, ReasonsNameReaderAndCost) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, with_method(Method::kMinCut));
  std::map<std::string, std::string> reasons;
  for (const SavedValue& value : plan.saved) reasons[step.graph[value.node].name] = value.reason;
  EXPECT_NE(reasons.at("bernoulli").find("drawing it again would give other numbers"), std::string::npos);
  EXPECT_NE(reasons.at("mm").find("would repeat a matrix product"), std::string::npos);
  EXPECT_EQ(reasons.at("x"), "input of the step: free to keep");
}

TEST(PartitionStep, SavedBytesLeaveInputsOut) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, with_method(Method::kDefault));
  EXPECT_EQ(plan.saved_bytes(), 4 * 1024 * 4 + 4) << "four tensors of 1024 floats, and the loss";
}

TEST(PartitionStep, ForwardValueReadByTheOptimizerIsKept) {
  StepBuilder b;
  const NodeId w = b.input("w", {8}, InputRole::kParameter);
  const NodeId scaled = b.call("aten.mul.Tensor", {arg(w), 3.0}, {8});
  const NodeId loss = b.call("aten.sum.default", {arg(scaled)}, {});
  b.part = PartitionerTag::kBackward;
  const NodeId seed = b.call("aten.ones_like.default", {arg(loss)}, {});
  const NodeId grad = b.view("aten.expand.default", seed, {Argument::ints({8})}, {8});
  b.part = PartitionerTag::kOptimizer;
  const NodeId change = b.call("aten.mul.Tensor", {arg(grad), arg(scaled)}, {8});
  b.output(loss, OutputRole::kUserOutput);
  b.output(change, OutputRole::kWriteBack, w);
  const JointGraph step = b.finish();
  for (const PartitionOptions& options : {with_method(Method::kDefault), with_method(Method::kMinCut), free_only()}) {
    const Plan plan = partition_step(step, options);
    const JointGraph scheduled = schedule_step(step, plan);
    expect_reads_only_saved(scheduled, saved_names(step, plan));
  }
}

TEST(ScheduleStep, PutsCopiesBeforeTheFirstReader) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, free_only());
  const JointGraph scheduled = schedule_step(step, plan);
  const Graph& g = scheduled.graph;
  EXPECT_EQ(reads(g, "mul_3"), (Names{"expand", "view_recompute"}));
  EXPECT_EQ(reads(g, "view_recompute"), Names{"gelu"});
  EXPECT_EQ(g[g.find("view_recompute")].next, g.find("mul_3"));
  EXPECT_EQ(g[g.find("view_recompute")].meta->partitioner_tag, PartitionerTag::kBackward);
  EXPECT_EQ(reads(g, "mul_4"), (Names{"gelu_backward", "full_recompute"}));
  EXPECT_NE(g.find("full"), kNoNode) << "the forward still reads its own copy";
  expect_reads_only_saved(scheduled, saved_names(step, plan));
}

TEST(ScheduleStep, RecomputesChainsInOrder) {
  const JointGraph step = gelu_step();
  const Plan plan = partition_step(step, with_method(Method::kMinCut));
  const JointGraph scheduled = schedule_step(step, plan);
  expect_reads_only_saved(scheduled, saved_names(step, plan));
  int random = 0;
  for (const NodeId id : scheduled.graph.order()) {
    if (scheduled.graph[id].target == "aten.bernoulli.p") ++random;
    for (const NodeId read : scheduled.graph.inputs(id)) {
      bool before = false;
      for (NodeId at = scheduled.graph.first(); at != id; at = scheduled.graph[at].next) before = before || at == read;
      EXPECT_TRUE(before) << scheduled.graph[id].name << " reads " << scheduled.graph[read].name
                          << " before it is there";
    }
  }
  EXPECT_EQ(random, 1);
}

TEST(ScheduleStep, CopiesHaveStoragesOfTheirOwn) {
  const JointGraph step = gelu_step();
  const JointGraph scheduled = schedule_step(step, partition_step(step, with_method(Method::kMinCut)));
  const Graph& g = scheduled.graph;
  const NodeId gelu = g.find("gelu_recompute");
  const NodeId view = g.find("view_recompute");
  ASSERT_NE(gelu, kNoNode);
  ASSERT_NE(view, kNoNode);
  EXPECT_NE(g[gelu].tensor()->storage, g[g.find("gelu")].tensor()->storage);
  EXPECT_EQ(g[gelu].tensor()->storage, g[view].tensor()->storage) << "a view shares the storage of its recomputed base";
}

TEST(ScheduleStep, DropsForwardNodesThatOnlyTheBackwardRead) {
  StepBuilder b;
  const NodeId x = b.input("x", {8}, InputRole::kUserInput);
  const NodeId w = b.input("w", {8}, InputRole::kParameter);
  const NodeId y = b.call("aten.mul.Tensor", {arg(x), arg(w)}, {8});
  const NodeId mask = b.call("aten.full.default", {Argument::ints({8}), 1.0}, {8});
  const NodeId loss = b.call("aten.sum.default", {arg(y)}, {});
  b.part = PartitionerTag::kBackward;
  const NodeId seed = b.call("aten.ones_like.default", {arg(loss)}, {});
  const NodeId grad = b.call("aten.mul.Tensor", {arg(seed), arg(mask)}, {8});
  b.output(loss, OutputRole::kUserOutput);
  b.output(grad, OutputRole::kGradient, w);
  const JointGraph step = b.finish();
  const JointGraph scheduled = schedule_step(step, partition_step(step, free_only()));
  EXPECT_EQ(scheduled.graph.find("full"), kNoNode);
  EXPECT_NE(scheduled.graph.find("full_recompute"), kNoNode);
}

TEST(ScheduleStep, RefusesToDrawAgain) {
  const JointGraph step = gelu_step();
  Plan plan = partition_step(step, with_method(Method::kDefault));
  std::erase_if(plan.saved, [&](const SavedValue& value) { return step.graph[value.node].name == "bernoulli"; });
  try {
    schedule_step(step, plan);
    FAIL() << "a plan that draws again was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_NE(error.message().find("bernoulli"), std::string::npos);
  }
}

TEST(ScheduleStep, DefaultPlanChangesNothing) {
  const JointGraph step = gelu_step();
  const JointGraph scheduled = schedule_step(step, partition_step(step, with_method(Method::kDefault)));
  ASSERT_EQ(scheduled.graph.size(), step.graph.size());
  for (const NodeId id : step.graph.order()) EXPECT_EQ(scheduled.graph[id].name, step.graph[id].name);
}

}  // namespace
}  // namespace sapwood::partition
