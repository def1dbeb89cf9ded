// Random joint graphs on libtorch: their metadata is what libtorch makes, and their halves compute what they compute.

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/library.h>

#include "configurations.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "pair_run.h"
#include "partition/partition.h"
#include "random/joint_graphs.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Graph;
using graph::NodeId;

constexpr uint32_t kSeeds = 300;
constexpr uint32_t kPairSeeds = 100;

/// What libtorch can run without a process group or an operator of the user's.
test::RandomJointOptions runnable(double checkpoint, double dropout) {
  test::RandomJointOptions options;
  options.collective = options.effect = 0;
  options.checkpoint = checkpoint;
  options.dropout = dropout;
  options.dead_code = 0;  // a dead random operator moves the generator in the joint graph only
  return options;
}

/// Type, sizes and strides; strides of dimensions of size 1 mean nothing.
std::string looks(const at::Tensor& tensor) {
  std::string text = c10::toString(tensor.scalar_type());
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    text += " " + std::to_string(tensor.size(i));
    if (tensor.size(i) > 1) text += ":" + std::to_string(tensor.stride(i));
  }
  return text;
}

std::string looks(const graph::TensorMeta& meta, const SymbolValues& symbols, const std::string& name) {
  const TensorGeometry shape = geometry(meta, symbols, name);
  std::string text = c10::toString(to_torch(meta.dtype));
  for (size_t i = 0; i < shape.sizes.size(); ++i) {
    text += " " + std::to_string(shape.sizes[i]);
    if (shape.sizes[i] > 1) text += ":" + std::to_string(shape.strides[i]);
  }
  return text;
}

TEST(RandomJointGraphsOnTorch, HaveTheMetadataThatLibtorchMakes) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const Graph g = test::random_joint_graph(runnable(0.2, 1), seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print_text(g));
    const Values inputs = make_random_inputs(g, seed);
    const SymbolValues symbols = bind_symbols(g, inputs);
    run(g, inputs, [&](const graph::Node& node, const IValue& value) {
      if (node.tensor()) {
        EXPECT_EQ(looks(*node.tensor(), symbols, node.name), looks(value.toTensor())) << node.name;
        EXPECT_EQ(symbols.evaluate(*node.tensor()->offset, node.name), value.toTensor().storage_offset()) << node.name;
      } else if (const auto* size = node.val ? node.val->as<graph::SymIntValue>() : nullptr) {
        EXPECT_EQ(symbols.evaluate(size->expr, node.name), value.toInt()) << node.name;
      }
    });
    if (HasFailure()) return;
  }
}

/// Everything, including effects and collectives in a world of one rank.
test::RandomJointOptions everything() {
  test::RandomJointOptions options;
  options.dead_code = 0;  // a dead random operator moves the generator in the joint graph only
  return options;
}

/// What the operators with effects have seen, in order.
std::vector<double>& effects() {
  static std::vector<double> seen;
  return seen;
}

at::Tensor record(const at::Tensor& x) {
  effects().push_back(x.to(at::kDouble).sum().item<double>());
  return x.clone();
}

void define_effect() {
  static const torch::Library library = [] {
    torch::Library made(torch::Library::DEF, "sapwood_test", std::nullopt, __FILE__, __LINE__);
    made.def("record(Tensor x) -> Tensor");
    made.impl("record", c10::DispatchKey::CPU, TORCH_FN(record));
    return made;
  }();
}

const RunOptions kSingleRank{.observer = {}, .device = nullptr, .single_rank = true};

std::vector<Configuration> random_configurations() {
  std::vector<Configuration> all{{"default", {}}};
  all[0].options.method = partition::Method::kDefault;
  for (const double budget : {0.0, 0.5, 1.0}) {
    all.push_back({"min cut, budget " + std::to_string(budget), {}});
    all.back().options.activation_memory_budget = budget;
  }
  return all;
}

/// How many random operators the pair replays.
int replays(const partition::ForwardBackward& pair) {
  int count = 0;
  for (const NodeId id : pair.backward.order())
    count += pair.backward[id].is_call("higher_order.run_with_rng_state") ? 1 : 0;
  return count;
}

int expect_halves_equal(const test::RandomJointOptions& options, uint32_t seed) {
  const Graph recorded = test::random_joint_graph(options, seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print_text(recorded));
  const Values inputs = make_random_inputs(recorded, seed);
  effects().clear();
  const StepRun whole = run_joint(recorded, inputs, seed, kSingleRank);
  const std::vector<double> seen = effects();
  int replayed = 0;
  for (const Configuration& one : random_configurations()) {
    SCOPED_TRACE(one.text);
    Graph joint = recorded;
    const partition::Plan plan = partition::partition(joint, one.options);
    const partition::ForwardBackward pair = partition::extract(joint, plan);
    expect_acquitted(recorded, pair);
    effects().clear();
    const auto difference = first_difference(recorded, whole, run_pair(recorded, pair, inputs, seed, kSingleRank));
    EXPECT_FALSE(difference) << *difference << " differs";
    EXPECT_EQ(effects(), seen) << "effects";
    replayed += replays(pair);
  }
  return replayed;
}

TEST(RandomJointGraphsOnTorch, HalvesComputeWhatTheGraphComputes) {
  at::set_num_threads(1);
  define_effect();
  test::RandomJointOptions checkpointed = everything();
  checkpointed.checkpoint = 1;
  int replayed = 0;
  for (uint32_t seed = 1; seed <= kPairSeeds && !HasFailure(); ++seed) {
    expect_halves_equal(everything(), seed);
    replayed += expect_halves_equal(checkpointed, seed);
  }
  EXPECT_GT(replayed, 20) << "hardly any graph replays random numbers";
}

}  // namespace
}  // namespace sapwood::interp
