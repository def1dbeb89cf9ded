#include "partition/canonical_names.h"

#include <gtest/gtest.h>

#include <random>

#include "graph/text.h"
#include "random/joint_graphs.h"
#include "unit/partition/corpus.h"
#include "unit/partition/shuffled_graph.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::arg;

/// Type and sizes of a tensor. Nodes that do the same to different inputs of one shape are interchangeable.
std::string looks(const graph::Node& node) {
  const graph::TensorMeta* tensor = node.tensor();
  if (!tensor) return "";
  std::string text(graph::dtype_name(tensor->dtype));
  for (const graph::SymExpr& size : tensor->shape) text += " " + size.str();
  return text;
}

/// Checks that both graphs give equal names to nodes that do the same.
void expect_same_names(const Graph& a, const Graph& b) {
  const CanonicalNames left = canonical_names(a);
  const CanonicalNames right = canonical_names(b);
  ASSERT_EQ(left.order.size(), right.order.size());
  EXPECT_EQ(left.hash, right.hash);
  for (size_t i = 0; i < left.order.size(); ++i) {
    const graph::Node& x = a[left.order[i]];
    const graph::Node& y = b[right.order[i]];
    ASSERT_EQ(x.kind, y.kind) << i;
    if (x.kind == graph::NodeKind::kCallFunction) {
      ASSERT_EQ(x.target, y.target) << x.name << " and " << y.name;
    }
    // Inputs that nothing reads are interchangeable, whatever their sizes.
    if (!x.users.empty()) {
      ASSERT_EQ(looks(x), looks(y)) << x.name << " and " << y.name;
    }
    std::vector<std::string> x_inputs;
    std::vector<std::string> y_inputs;
    for (const NodeId id : a.inputs(left.order[i])) x_inputs.push_back(left.name(id));
    for (const NodeId id : b.inputs(right.order[i])) y_inputs.push_back(right.name(id));
    if (x.kind == graph::NodeKind::kOutput) {
      std::ranges::sort(x_inputs);
      std::ranges::sort(y_inputs);
    }
    ASSERT_EQ(x_inputs, y_inputs) << x.name << " and " << y.name;
  }
}

TEST(CanonicalNames, DoNotDependOnNamesAndOrder) {
  const uint32_t seed = std::random_device{}();
  for (const std::string& model : test::corpus_models()) {
    SCOPED_TRACE(model + ", seed " + std::to_string(seed));
    const Graph original = test::corpus_graph(model);
    const test::ShuffledGraph other = test::shuffled(original, seed);
    expect_same_names(original, other.graph);
  }
}

TEST(CanonicalNames, OfRandomGraphsDoNotDependOnNamesAndOrder) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    const Graph original = test::random_joint_graph({}, seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print_text(original));
    expect_same_names(original, test::shuffled(original, seed).graph);
    if (HasFailure()) return;
  }
}

/// Two towers that nothing tells apart, each a product of two inputs of its own: whichever tower comes first, its
/// inputs must.
Graph towers(bool crossed) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  std::vector<NodeId> in;
  for (int i = 0; i < 4; ++i)
    in.push_back(g.placeholder("primals_" + std::to_string(i + 1), graph::Value(b.tensor({4, 4}))));
  const auto mm = [&](NodeId x, NodeId y) { return g.call("aten.mm.default", {arg(x), arg(y)}, b.tensor({4, 4})); };
  const NodeId first = crossed ? mm(in[0], in[3]) : mm(in[0], in[1]);
  const NodeId second = crossed ? mm(in[1], in[2]) : mm(in[2], in[3]);
  g.output({first, second});
  g.num_forward_outputs = 2;
  return g;
}

TEST(CanonicalNames, InputsOfEqualTowersStayTogether) { expect_same_names(towers(false), towers(true)); }

TEST(CanonicalNames, EqualReadersAreToldApartByWhatReadsThem) {
  // PyTorch's keys are equal for both sines, so it names them in the order in which a rank recorded them.
  const auto build = [](bool cosine_first) {
    test::StepBuilder b;
    Graph& g = b.step.graph;
    const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
    const auto unary = [&](const std::string& op, NodeId of) { return g.call(op, {arg(of)}, b.tensor({4})); };
    const NodeId first = unary("aten.sin.default", x);
    const NodeId second = unary("aten.sin.default", x);
    g.output({unary("aten.cos.default", cosine_first ? first : second),
              unary("aten.exp.default", cosine_first ? second : first)});
    g.num_forward_outputs = 2;
    return g;
  };
  expect_same_names(build(true), build(false));
}

TEST(CanonicalNames, SizesDoNotCount) {
  const auto build = [](int64_t size) {
    test::StepBuilder b;
    Graph& g = b.step.graph;
    const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({size, 2})));
    g.output({b.view("aten.view.default", x, {graph::Argument::ints({2 * size})}, {2 * size})});
    g.num_forward_outputs = 1;
    return g;
  };
  EXPECT_EQ(canonical_names(build(3)).hash, canonical_names(build(7)).hash);
}

TEST(CanonicalNames, AnotherOperatorChangesTheHash) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::string& model : test::small_corpus_models()) {
    Graph g = test::corpus_graph(model);
    const Hash128 before = canonical_names(g).hash;
    std::vector<NodeId> calls;
    for (const NodeId id : g.order())
      if (g[id].kind == graph::NodeKind::kCallFunction && g[id].target != "operator.getitem") calls.push_back(id);
    const NodeId changed = calls[random() % calls.size()];
    g.set_target(changed, "aten.erfinv.default");
    EXPECT_NE(canonical_names(g).hash, before) << model << ", " << g[changed].name;
  }
}

TEST(CanonicalNames, AnotherEdgeChangesTheHash) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const std::string& model : test::small_corpus_models()) {
    const Graph original = test::corpus_graph(model);
    const CanonicalNames names = canonical_names(original);
    std::vector<NodeId> pairs;
    for (const NodeId id : original.order())
      if (original[id].args.size() >= 2 && original[id].args[0].as<graph::NodeArg>() &&
          original[id].args[1].as<graph::NodeArg>() && !(original[id].args[0] == original[id].args[1]))
        pairs.push_back(id);
    ASSERT_FALSE(pairs.empty()) << model;
    const NodeId changed = pairs[random() % pairs.size()];
    Graph g = original;  // both arguments the same: a node loses a reader, another reads it twice
    graph::ArgumentList args = g[changed].args;
    args[1] = args[0];
    g.set_args(changed, args);
    EXPECT_NE(canonical_names(g).hash, names.hash) << model << ", " << g[changed].name;
  }
}

TEST(CanonicalNames, SwappedOperandsChangeTheHash) {
  const auto build = [](bool swapped) {
    test::StepBuilder b;
    Graph& g = b.step.graph;
    const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
    const NodeId sin = g.call("aten.sin.default", {arg(x)}, b.tensor({4}));
    g.output({g.call("aten.sub.Tensor", {arg(swapped ? sin : x), arg(swapped ? x : sin)}, b.tensor({4}))});
    g.num_forward_outputs = 1;
    return g;
  };
  EXPECT_NE(canonical_names(build(false)).hash, canonical_names(build(true)).hash);
}

TEST(CanonicalNames, TagsAndMarksChangeTheHash) {
  Graph g = towers(false);
  const Hash128 before = canonical_names(g).hash;
  const NodeId mm = g.output_values().front();
  g.meta(mm).recompute = graph::CheckpointPolicy::kMustRecompute;
  const Hash128 marked = canonical_names(g).hash;
  EXPECT_NE(marked, before);
  g.meta(mm).partitioner_tag = graph::PartitionerTag::kMustBeInBackward;
  EXPECT_NE(canonical_names(g).hash, marked);
}

TEST(CanonicalNames, NamesAreFoundAgain) {
  const Graph g = towers(false);
  const CanonicalNames names = canonical_names(g);
  for (const NodeId id : g.order()) EXPECT_EQ(names.find(names.name(id)), id);
  for (const char* wrong : {"", "node_", "node_7", "node_-1", "node_01", "node_1x", "node_99999999999999999999", "mm"})
    EXPECT_EQ(names.find(wrong), graph::kNoNode) << wrong;
}

TEST(CanonicalNames, WideFanOutIsNamed) {
  // Quadratic time would take minutes.
  constexpr int kReaders = 50'000;
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
  std::vector<NodeId> outputs;
  for (int i = 0; i < kReaders; ++i) {
    outputs.push_back(g.call("aten.sin.default", {arg(x)}, b.tensor({4})));
    g.call("aten.ones.default", {}, b.tensor({4}));  // and nodes that nothing is connected with
  }
  g.output(outputs);
  g.num_forward_outputs = kReaders;
  EXPECT_EQ(canonical_names(g).order.size(), 2u * kReaders + 2);
}

}  // namespace
}  // namespace sapwood::partition
