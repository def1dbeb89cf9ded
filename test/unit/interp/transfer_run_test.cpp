// Saved tensors that wait in host memory: the pair computes what it computes without.

#include <gtest/gtest.h>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "base/error.h"
#include "corpus_models.h"
#include "pair_run.h"
#include "partition/offload.h"
#include "partition/prefetch.h"

namespace sapwood::interp {
namespace {

using graph::Argument;
using graph::Graph;
using graph::NodeId;
using partition::ForwardBackward;
using partition::OffloadOptions;

/// Bytes that libtorch's CPU allocator holds more than at the start, which on a reference device are the accelerator's.
class DeviceBytes : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t size, size_t, size_t, c10::Device) override {
    bytes_ += size;
    peak_ = std::max(peak_, bytes_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t peak() const { return peak_; }

 private:
  int64_t bytes_ = 0;
  int64_t peak_ = 0;
};

struct Form {
  std::string name;
  OffloadOptions options;
};

std::vector<Form> forms() {
  std::vector<Form> all;
  const auto add = [&](std::string name, bool stream, bool legacy, bool sink, bool prefetch) {
    OffloadOptions options;
    options.enabled = true;
    options.separate_stream = stream;
    options.legacy_streams = legacy;
    options.sink_wait = sink;
    options.prefetch = prefetch;
    options.milliseconds = [](const Graph&, NodeId) { return 0.001; };
    all.push_back({std::move(name), std::move(options)});
  };
  add("plain", false, false, false, false);
  for (const bool legacy : {false, true})
    for (const bool sink : {false, true})
      for (const bool prefetch : {false, true})
        add(std::string("stream") + (legacy ? ", legacy" : "") + (sink ? ", sink" : "") +
                (prefetch ? ", prefetch" : ""),
            true, legacy, sink, prefetch);
  return all;
}

struct Case {
  Graph joint;
  partition::Plan plan;
  ForwardBackward plain;
  Values inputs;
};

Case case_of(Graph recorded, partition::Method method) {
  Case made{on_accelerator(std::move(recorded)), {}, {}, {}};
  partition::PartitionOptions options;
  options.method = method;
  made.plan = partition::partition(made.joint, options);
  made.plain = partition::extract(made.joint, made.plan);
  made.inputs = make_random_inputs(made.joint, 1);
  return made;
}

std::vector<std::string> saved_names(const Case& c) {
  std::vector<std::string> names;
  for (const partition::SavedValue& value : c.plan.saved)
    if (!value.is_input) names.push_back(c.joint[value.node].name);
  return names;
}

StepRun run_on(const Case& c, const ForwardBackward& pair, ReferenceDevice& device) {
  return run_pair(c.joint, pair, c.inputs, 1, RunOptions{.observer = {}, .device = &device});
}

void expect_same_as_plain(const Case& c, const Form& form) {
  SCOPED_TRACE(form.name);
  ReferenceDevice device;
  const StepRun expected = run_on(c, c.plain, device);
  ASSERT_EQ(device.host_peak_bytes(), 0);
  ForwardBackward pair = c.plain;
  OffloadOptions options = form.options;
  options.names = saved_names(c);
  const partition::OffloadReport report = partition::offload_saved(pair, partition::facts_of(pair), options);
  ASSERT_FALSE(report.tensors.empty());
  expect_acquitted(c.joint, pair);
  const StepRun offloaded = run_on(c, pair, device);
  const auto difference = first_difference(c.joint, expected, offloaded);
  EXPECT_FALSE(difference) << *difference << " differs";
  EXPECT_EQ(device.host_peak_bytes(), report.bytes()) << "bytes on the host";
  EXPECT_EQ(device.host_bytes(), 0) << "nothing is left on the host";
  EXPECT_EQ(device.pending_transfers(), 0U);
}

class Offloaded : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

TEST_P(Offloaded, EveryFormComputesThePlainPair) {
  for (const partition::Method method : {partition::Method::kDefault, partition::Method::kMinCut}) {
    const Case c = case_of(load_model(GetParam()), method);
    for (const Form& form : forms()) expect_same_as_plain(c, form);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Offloaded,
                         testing::Values("chargpt_selective", "distilbert", "mlp", "mlp_dynamic", "t5", "vae"),
                         [](const auto& model) { return model.param; });

graph::TensorMeta square(int64_t size, int32_t storage) {
  graph::TensorMeta meta;
  meta.shape = {size, size};
  meta.stride = std::vector<graph::SymExpr>{size, 1};
  meta.offset = graph::SymExpr(0);
  meta.storage = storage;
  meta.storage_bytes = graph::SymExpr(size * size * 4);
  return meta;
}

/// (x0+x1).sin() + (x2+x3).sin() + (x4+x5).sin(), whose gradients read the cosines.
Graph three_sines(int64_t size) {
  Graph g;
  g.num_forward_outputs = 1;
  int32_t storage = 0;
  graph::PartitionerTag part = graph::PartitionerTag::kForward;
  const auto tagged = [&](NodeId id) { return g.meta(id).partitioner_tag = part, id; };
  const auto call = [&](const char* target, graph::ArgumentList args) {
    return tagged(g.call(target, std::move(args), graph::Value(square(size, storage++))));
  };
  std::vector<NodeId> x;
  for (int i = 1; i <= 6; ++i)
    x.push_back(tagged(g.placeholder("primals_" + std::to_string(i), graph::Value(square(size, storage++)))));
  const NodeId tangent = tagged(g.placeholder("tangents_1", graph::Value(square(size, storage++))));
  NodeId sum = graph::kNoNode;
  std::vector<NodeId> sums;
  for (size_t i = 0; i < 6; i += 2) {
    sums.push_back(call("aten.add.Tensor", {Argument::node(x[i]), Argument::node(x[i + 1])}));
    const NodeId sine = call("aten.sin.default", {Argument::node(sums.back())});
    sum = sum == graph::kNoNode ? sine : call("aten.add.Tensor", {Argument::node(sum), Argument::node(sine)});
  }
  part = graph::PartitionerTag::kBackward;
  std::vector<NodeId> outputs{sum};
  for (const NodeId of : sums) {
    const NodeId cosine = call("aten.cos.default", {Argument::node(of)});
    const NodeId gradient = call("aten.mul.Tensor", {Argument::node(tangent), Argument::node(cosine)});
    outputs.insert(outputs.end(), {gradient, gradient});
  }
  g.output(outputs);
  return g;
}

TEST(OffloadedSines, AreWhatEagerComputes) {
  for (const int64_t size : {10, 512}) {
    const Case c = case_of(three_sines(size), partition::Method::kMinCut);
    for (const Form& form : forms()) expect_same_as_plain(c, form);
    ReferenceDevice device;
    const StepRun plain = run_on(c, c.plain, device);
    const auto input = [&](size_t i) { return c.inputs[i].toTensor(); };
    at::Tensor sum = at::zeros({size, size});
    for (size_t i = 0; i < 6; i += 2) sum = sum + (input(i) + input(i + 1)).sin();
    EXPECT_TRUE(at::allclose(plain.outputs[0].toTensor(), sum, 1e-5, 1e-5));
    EXPECT_TRUE(at::allclose(plain.outputs[3].toTensor(), input(6) * (input(2) + input(3)).cos(), 1e-5, 1e-5));
  }
}

/// `count` sines after each other: the saved values wait while others are computed.
Graph sines_in_a_row(int64_t size, int count) {
  Graph g;
  g.num_forward_outputs = 1;
  int32_t storage = 0;
  graph::PartitionerTag part = graph::PartitionerTag::kForward;
  const auto call = [&](const char* target, graph::ArgumentList args) {
    const NodeId id = g.call(target, std::move(args), graph::Value(square(size, storage++)));
    g.meta(id).partitioner_tag = part;
    return id;
  };
  std::vector<NodeId> values{g.placeholder("primals_1", graph::Value(square(size, storage++)))};
  g.meta(values[0]).partitioner_tag = part;
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(square(size, storage++)));
  g.meta(tangent).partitioner_tag = part;
  for (int i = 0; i < count; ++i)
    values.push_back(call("aten.mm.default", {Argument::node(values.back()), Argument::node(values.back())}));
  part = graph::PartitionerTag::kBackward;
  NodeId gradient = tangent;
  for (int i = count - 1; i >= 0; --i)
    gradient = call("aten.mm.default", {Argument::node(gradient), Argument::node(values[static_cast<size_t>(i)])});
  g.output({values.back(), gradient});
  return g;
}

int64_t device_peak(const Case& c, const ForwardBackward& pair) {
  ReferenceDevice device;
  const auto counter = std::make_shared<DeviceBytes>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, counter);
  run_on(c, pair, device);
  return counter->peak();
}

/// The forward's values leave the device before its peak; without a separate stream also without prefetching.
TEST(OffloadedSines, TakeLessMemoryOnTheDevice) {
  at::set_num_threads(1);
  constexpr int64_t kBytes = 64 * 64 * 4;
  const Case c = case_of(sines_in_a_row(64, 8), partition::Method::kDefault);
  const int64_t before = device_peak(c, c.plain);
  for (const Form& form : forms()) {
    if (form.options.sink_wait || form.options.prefetch) continue;  // these trade memory for time
    ForwardBackward pair = c.plain;
    OffloadOptions options = form.options;
    options.names = saved_names(c);
    const auto report = partition::offload_saved(pair, partition::facts_of(pair), options);
    ASSERT_GE(report.tensors.size(), 5U);
    EXPECT_LE(device_peak(c, pair), before - 3 * kBytes) << form.name;
  }
}

}  // namespace
}  // namespace sapwood::interp
