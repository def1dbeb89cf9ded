#include "partition/random_state.h"

#include <gtest/gtest.h>

#include "unit/partition/pair_text.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Device;
using graph::Graph;
using graph::NodeId;
using test::arg;
using test::Lines;

/// y = x * (u > 0.5) for a checkpointed random u on each of the devices.
Graph noisy(const std::vector<std::string>& devices) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  std::vector<NodeId> xs;
  std::vector<NodeId> tangents;
  const auto on = [&](const std::string& device) {
    graph::TensorMeta meta = b.tensor({8});
    meta.device = *Device::parse(device);
    return graph::Value(meta);
  };
  for (size_t i = 0; i < devices.size(); ++i)
    xs.push_back(g.placeholder("primals_" + std::to_string(i + 1), on(devices[i])));
  for (size_t i = 0; i < devices.size(); ++i)
    tangents.push_back(g.placeholder("tangents_" + std::to_string(i + 1), on(devices[i])));
  std::vector<NodeId> outputs;
  std::vector<NodeId> masks;
  for (size_t i = 0; i < devices.size(); ++i) {
    const NodeId noise = g.call("aten.rand_like.default", {arg(xs[i])}, on(devices[i]));
    g.meta(noise).recompute = graph::CheckpointPolicy::kMustRecompute;
    masks.push_back(g.call("aten.gt.Scalar", {arg(noise), 0.5}, on(devices[i])));
    g.meta(masks.back()).recompute = graph::CheckpointPolicy::kMustRecompute;
    outputs.push_back(g.call("aten.mul.Tensor", {arg(xs[i]), arg(masks[i])}, on(devices[i])));
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const NodeId grad = g.call("aten.mul.Tensor", {arg(tangents[i]), arg(masks[i])}, on(devices[i]));
    g.meta(grad).partitioner_tag = graph::PartitionerTag::kBackward;
    outputs.push_back(grad);
  }
  g.num_forward_outputs = static_cast<int64_t>(devices.size());
  g.output(outputs);
  return g;
}

ForwardBackward split(const std::vector<std::string>& devices, bool graphsafe = true) {
  Graph joint = noisy(devices);
  PartitionOptions options;
  options.graphsafe_rng_functionalization = graphsafe;
  const Plan plan = partition(joint, options);
  return extract(joint, plan);
}

int64_t calls(const Graph& part, const std::string& name) { return test::count_calls(part, "higher_order." + name); }

TEST(RandomState, OneAcceleratorSharesGenerators) {
  const ForwardBackward parts = split({"cuda:0", "cuda:0"});
  EXPECT_EQ(calls(parts.forward, "graphsafe_run_with_rng_state"), 2);
  EXPECT_EQ(calls(parts.backward, "graphsafe_run_with_rng_state"), 2);
  const Lines forward = test::placeholder_names(parts.forward);
  const Lines backward = test::placeholder_names(parts.backward);
  EXPECT_EQ(Lines(forward.end() - 2, forward.end()), (Lines{"fwd_rng_state_0", "fwd_rng_state_1"}));
  EXPECT_EQ(Lines(backward.end() - 2, backward.end()), (Lines{"bwd_rng_state_0", "bwd_rng_state_1"}));
  EXPECT_EQ(test::output_names(parts.forward), (Lines{"mul", "mul_1", "primals_1", "primals_2"})) << "and no state";
}

TEST(RandomState, TwoAcceleratorsFallBackToSavedStates) {
  const ForwardBackward parts = split({"cuda:0", "cuda:1"});
  EXPECT_EQ(calls(parts.forward, "graphsafe_run_with_rng_state"), 0);
  EXPECT_EQ(calls(parts.forward, "run_and_save_rng_state"), 2);
  EXPECT_EQ(calls(parts.backward, "run_with_rng_state"), 2);
  const Lines backward = test::placeholder_names(parts.backward);
  EXPECT_EQ(backward,
            (Lines{"primals_1", "primals_2", "rng_state_output_0", "rng_state_output_1", "tangents_1", "tangents_2"}));
  EXPECT_EQ(parts.forward.output_values().size(), 6u) << "results, inputs, states";
}

TEST(RandomState, TheCpuAndTheSwitchSaveStates) {
  for (const ForwardBackward& parts : {split({"cpu"}), split({"cuda:0"}, false)}) {
    EXPECT_EQ(calls(parts.forward, "run_and_save_rng_state"), 1);
    EXPECT_EQ(calls(parts.backward, "run_with_rng_state"), 1);
    EXPECT_EQ(test::count_calls(parts.backward, "aten.rand_like.default"), 0);
  }
}

TEST(RandomState, OnlyTheAcceleratorsOperatorsUseItsGenerators) {
  const ForwardBackward parts = split({"cuda:0", "cpu"});
  EXPECT_EQ(calls(parts.forward, "graphsafe_run_with_rng_state"), 1);
  EXPECT_EQ(calls(parts.forward, "run_and_save_rng_state"), 1);
  EXPECT_EQ(calls(parts.backward, "graphsafe_run_with_rng_state"), 1);
  EXPECT_EQ(calls(parts.backward, "run_with_rng_state"), 1);
}

TEST(RandomState, SomeDevicesHaveGraphsafeGenerators) {
  EXPECT_TRUE(has_graphsafe_generators(*Device::parse("cuda:3")));
  EXPECT_FALSE(has_graphsafe_generators(*Device::parse("cpu")));
  EXPECT_FALSE(has_graphsafe_generators(*Device::parse("meta")));
}

/// Calls a body that asks for a generator twice, and one that doesn't once.
Graph caller(const std::string& generator) {
  test::StepBuilder b;
  const auto body = [&](bool asks) {
    auto inner = std::make_shared<Graph>();
    const NodeId x = inner->placeholder("primals_0", graph::Value(b.tensor({8})));
    if (asks) inner->placeholder(generator, graph::Value(graph::OpaqueValue{"Generator(device=cuda:0)"}));
    inner->output({inner->call("aten.sin.default", {arg(x)}, graph::Value(b.tensor({8})))});
    return inner;
  };
  Graph& g = b.step.graph;
  g.subgraphs["noisy"] = body(true);
  g.subgraphs["plain"] = body(false);
  NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({8})));
  const NodeId noisy_body = g.get_attr("noisy", "noisy");
  const NodeId plain_body = g.get_attr("plain", "plain");
  for (const NodeId which : {noisy_body, plain_body, noisy_body})
    x = g.call("higher_order.invoke_subgraph", {arg(which), "region", arg(x)}, graph::Value(b.tensor({8})));
  g.output({x});
  return g;
}

// pytorch/pytorch#181834, #181808, #160713, #139325
TEST(RandomState, BodiesGetGeneratorsOfTheirOwnCall) {
  for (const bool is_backward : {false, true}) {
    const std::string wanted = is_backward ? "bwd_rng_state" : "fwd_rng_state";
    Graph part = caller(wanted + "_0");
    thread_generators_through_subgraphs(part, is_backward);
    EXPECT_EQ(test::placeholder_names(part), (Lines{"primals_1", wanted + "_0", wanted + "_1"}));
    std::vector<size_t> arguments;
    Lines last;
    for (const NodeId id : part.order()) {
      if (!part[id].is_call("higher_order.invoke_subgraph")) continue;
      arguments.push_back(part[id].args.size());
      last.push_back(part[part[id].args.back().as<graph::NodeArg>()->id].name);
    }
    EXPECT_EQ(arguments, (std::vector<size_t>{4, 3, 4}));
    EXPECT_EQ(last[0], wanted + "_0");
    EXPECT_EQ(last[2], wanted + "_1");
  }
}

TEST(RandomState, BodiesOfTheOtherPartAreLeftAlone) {
  Graph part = caller("bwd_rng_state_0");
  const Lines before = test::node_lines(part);
  thread_generators_through_subgraphs(part, false);
  EXPECT_EQ(test::node_lines(part), before);
}

}  // namespace
}  // namespace sapwood::partition
