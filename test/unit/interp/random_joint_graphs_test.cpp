// Random joint graphs on libtorch: their metadata is what libtorch makes, and their halves compute what they compute.

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <map>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "partition/partition.h"
#include "random/joint_graphs.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Graph;
using graph::NodeId;
using Values = std::vector<IValue>;

constexpr uint32_t kSeeds = 300;

/// What libtorch can run without a process group or an operator of the user's.
test::RandomJointOptions runnable(double checkpoint, double dropout) {
  test::RandomJointOptions options;
  options.collective = options.effect = 0;
  options.checkpoint = checkpoint;
  options.dropout = dropout;
  options.dead_code = 0;  // a dead random operator moves the generator in the joint graph only
  return options;
}

Values copies(const Values& values) {
  Values result;
  for (const IValue& value : values) result.push_back(value.isTensor() ? IValue(value.toTensor().clone()) : value);
  return result;
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

bool same_bits(const IValue& a, const IValue& b) {
  if (!a.isTensor() || !b.isTensor()) return a.isNone() == b.isNone() && (a.isNone() || a.toInt() == b.toInt());
  const at::Tensor x = a.toTensor().contiguous();
  const at::Tensor y = b.toTensor().contiguous();
  if (x.sizes() != y.sizes() || x.dtype() != y.dtype()) return false;
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

/// Runs the halves after each other: the backward gets what the forward hands over and the tangents.
Values run_halves(const Graph& joint, const partition::ForwardBackward& parts, const Values& inputs) {
  std::map<std::string, IValue> by_name;
  const std::vector<NodeId> placeholders = joint.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) by_name[joint[placeholders[i]].name] = inputs[i];
  const auto gather = [&](const Graph& half) {
    Values values;
    for (const NodeId id : half.placeholders()) values.push_back(by_name.at(half[id].name));
    return values;
  };
  Values forward = run(parts.forward, gather(parts.forward));
  const std::vector<NodeId> outputs = parts.forward.output_values();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != graph::kNoNode) by_name[parts.forward[outputs[i]].name] = forward[i];
  Values backward = run(parts.backward, gather(parts.backward));
  forward.resize(static_cast<size_t>(joint.num_forward_outputs));
  forward.insert(forward.end(), backward.begin(), backward.end());
  return forward;
}

void expect_halves_equal(const test::RandomJointOptions& options, uint32_t seed, partition::Method method) {
  Graph joint = test::random_joint_graph(options, seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + (method == partition::Method::kDefault ? ", default" : ", min cut") +
               "\n" + graph::print_text(joint));
  const Values inputs = make_random_inputs(joint, seed);
  const Values whole_inputs = copies(inputs);
  const Values half_inputs = copies(inputs);
  at::manual_seed(seed);
  const Values whole = run(joint, whole_inputs);
  partition::PartitionOptions how;
  how.method = method;
  const partition::Plan plan = partition::partition(joint, how);
  at::manual_seed(seed);
  const Values halves = run_halves(joint, partition::extract(joint, plan), half_inputs);
  ASSERT_EQ(whole.size(), halves.size());
  for (size_t i = 0; i < whole.size(); ++i) ASSERT_TRUE(same_bits(whole[i], halves[i])) << "output " << i;
  for (size_t i = 0; i < inputs.size(); ++i)
    ASSERT_TRUE(same_bits(whole_inputs[i], half_inputs[i])) << "input " << i << " after the step";
}

TEST(RandomJointGraphsOnTorch, HalvesComputeWhatTheGraphComputes) {
  at::set_num_threads(1);
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    for (const partition::Method method : {partition::Method::kDefault, partition::Method::kMinCut}) {
      expect_halves_equal(runnable(0, 1), seed, method);  // random operators
      expect_halves_equal(runnable(1, 0), seed, method);  // checkpoint marks, which replay the generator's state
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace sapwood::interp
