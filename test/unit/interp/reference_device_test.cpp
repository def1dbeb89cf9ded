#include "interp/reference_device.h"

#include <gtest/gtest.h>

#include <ATen/Functions.h>

#include "base/error.h"
#include "interp/interpreter.h"

namespace sapwood::interp {
namespace {

using graph::Argument;
using graph::Graph;
using graph::NodeId;
using Values = std::vector<c10::IValue>;

Argument arg(NodeId id) { return Argument::node(id); }
const graph::Device kAccelerator{"cuda", 0};

std::string message(const Graph& g, const Values& inputs, ReferenceDevice* device) {
  try {
    run(g, inputs, RunOptions{.observer = {}, .device = device});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// x * 2, moved to the host; what `more` adds comes before the output.
Graph offloading(const std::function<NodeId(Graph&, NodeId, NodeId)>& end) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId twice = g.call("aten.mul.Tensor", {arg(x), 2}, std::nullopt, "twice");
  const NodeId copy = g.call("ao.offload.default", {arg(twice)}, std::nullopt, "copy");
  g.output({end(g, twice, copy)});
  return g;
}

NodeId wait(Graph& g, NodeId copy, NodeId kept) {
  return g.call("ao.wait_tensor.default", {arg(copy), arg(kept)}, std::nullopt);
}

TEST(ReferenceDevice, OffloadAndReloadBringTheValueBack) {
  ReferenceDevice device;
  Graph there = offloading([](Graph& g, NodeId twice, NodeId copy) { return wait(g, copy, twice); });
  Graph back;
  const NodeId host = back.placeholder("host", std::nullopt);
  const NodeId copy = back.call(
      "ao.reload.default", {arg(host), kAccelerator, Argument::ints({2, 3}), Argument::ints({3, 1})}, std::nullopt);
  back.output({wait(back, copy, host)});
  const at::Tensor in = at::rand({2, 3});
  const RunOptions options{.observer = {}, .device = &device};
  Values on_host = run(there, Values{in}, options);
  EXPECT_EQ(device.host_bytes(), 24);
  const Values again = run(back, on_host, options);
  EXPECT_TRUE(at::equal(again[0].toTensor(), in * 2));
  EXPECT_EQ(device.host_bytes(), 0) << "the wait for the reload frees the host's copy";
  EXPECT_EQ(device.host_peak_bytes(), 24);
  EXPECT_EQ(device.pending_transfers(), 0U);
  EXPECT_TRUE(on_host[0].toTensor().isnan().all().item<bool>());
}

TEST(ReferenceDevice, NothingIsThereBeforeTheWait) {
  ReferenceDevice device;
  const Graph g = offloading([](Graph&, NodeId, NodeId copy) { return copy; });
  const Values out = run(g, Values{at::rand({3})}, RunOptions{.observer = {}, .device = &device});
  EXPECT_TRUE(out[0].toTensor().isnan().all().item<bool>());
  EXPECT_EQ(device.pending_transfers(), 1U);
}

TEST(ReferenceDevice, ReadsBehindTheWaitSeeThatTheTensorIsGone) {
  ReferenceDevice device;
  const Graph g = offloading([](Graph& graph, NodeId twice, NodeId copy) {
    wait(graph, copy, twice);
    return graph.call("aten.add.Tensor", {arg(twice), 1}, std::nullopt);
  });
  const Values out = run(g, Values{at::rand({3})}, RunOptions{.observer = {}, .device = &device});
  EXPECT_TRUE(out[0].toTensor().isnan().all().item<bool>());
}

TEST(ReferenceDevice, AWaitWithoutTransferIsAnError) {
  ReferenceDevice device;
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  g.output({g.call("ao.wait_tensor.default", {arg(x)}, std::nullopt, "wait_4")});
  const std::string text = message(g, Values{at::rand({3})}, &device);
  EXPECT_NE(text.find("'wait_4' (ao.wait_tensor.default): no pending transfer"), std::string::npos) << text;
}

TEST(ReferenceDevice, ASecondWaitIsAnError) {
  ReferenceDevice device;
  const Graph g = offloading([](Graph& graph, NodeId twice, NodeId copy) {
    wait(graph, copy, twice);
    return wait(graph, copy, twice);
  });
  EXPECT_NE(message(g, Values{at::rand({3})}, &device).find("no pending transfer"), std::string::npos);
}

TEST(ReferenceDevice, ASourceThatNothingKeepsIsAnError) {
  ReferenceDevice device;
  const Graph g = offloading([](Graph& graph, NodeId, NodeId copy) {
    return graph.call("ao.wait_tensor.default", {arg(copy)}, std::nullopt);
  });
  EXPECT_NE(message(g, Values{at::rand({3})}, &device).find("freed before the wait"), std::string::npos);
}

TEST(ReferenceDevice, EventsMustBeRecordedBeforeTheyAreWaitedFor) {
  ReferenceDevice device;
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  g.call("streams.wait_event.default", {3, 0}, std::nullopt);
  g.output({x});
  EXPECT_NE(message(g, Values{at::rand({3})}, &device).find("event 3 wasn't recorded"), std::string::npos);
}

TEST(ReferenceDevice, PlainCopiesCountAsLongAsTheyLive) {
  ReferenceDevice device;
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  g.output({g.call("prims.device_put.default", {arg(x), graph::Device{}}, std::nullopt)});
  {
    const Values out = run(g, Values{at::ones({8}, at::kDouble)}, RunOptions{.observer = {}, .device = &device});
    EXPECT_TRUE(at::equal(out[0].toTensor(), at::ones({8}, at::kDouble)));
    EXPECT_EQ(device.host_bytes(), 64);
  }
  EXPECT_EQ(device.host_bytes(), 0);
}

TEST(ReferenceDevice, PlaysTheDevicesOfTheGraph) {
  ReferenceDevice device;
  Graph g;
  const NodeId made = g.call("aten.zeros.default", {Argument::ints({2})}, std::nullopt);
  g.set_kwargs(made, {{"device", kAccelerator}});
  g.output({made});
  EXPECT_TRUE(run(g, Values{}, RunOptions{.observer = {}, .device = &device})[0].toTensor().is_cpu());
}

TEST(ReferenceDevice, TransfersNeedOne) {
  const Graph g = offloading([](Graph& graph, NodeId twice, NodeId copy) { return wait(graph, copy, twice); });
  const std::string text = message(g, Values{at::rand({3})}, nullptr);
  EXPECT_NE(text.find("'copy' (ao.offload.default) needs a reference device"), std::string::npos) << text;
}

}  // namespace
}  // namespace sapwood::interp
