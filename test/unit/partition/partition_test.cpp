#include "partition/partition.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;
using test::arg;
using Names = std::vector<std::string>;

/// A joint graph of unary operators on one primal, and the chain rule behind it.
class ChainBuilder {
 public:
  explicit ChainBuilder(int64_t elements) : elements_(elements) {
    value = b_.step.graph.placeholder("primals_1", tensor());
    tangent = b_.step.graph.placeholder("tangents_1", tensor());
  }

  graph::Value tensor() { return graph::Value(b_.tensor({elements_})); }

  NodeId call(const std::string& target, graph::ArgumentList args) {
    return b_.step.graph.call(target, std::move(args), tensor());
  }

  /// cos: its gradient is -sin(input) * grad.
  void cos() {
    inputs_.push_back(value);
    value = call("aten.cos.default", {arg(value)});
  }

  Graph finish() {
    Graph& g = b_.step.graph;
    NodeId grad = tangent;
    for (auto it = inputs_.rbegin(); it != inputs_.rend(); ++it) {
      const NodeId sin = call("aten.sin.default", {arg(*it)});
      const NodeId neg = call("aten.neg.default", {arg(sin)});
      grad = call("aten.mul.Tensor", {arg(grad), arg(neg)});
      for (const NodeId id : {sin, neg, grad}) g.meta(id).partitioner_tag = PartitionerTag::kBackward;
    }
    g.output({value, grad});
    g.num_forward_outputs = 1;
    return g;
  }

  /// Names of what the cosines read.
  Names input_names() const {
    Names names;
    for (const NodeId id : inputs_) names.push_back(b_.step.graph[id].name);
    return names;
  }

  NodeId value = kNoNode;
  NodeId tangent = kNoNode;

 private:
  test::StepBuilder b_;
  int64_t elements_;
  std::vector<NodeId> inputs_;
};

Names names(const Graph& graph, const std::vector<SavedValue>& values) {
  Names result;
  for (const SavedValue& value : values) result.push_back(graph[value.node].name);
  return result;
}

TEST(Partition, ChainOfCosinesSavesItsInputOnly) {
  ChainBuilder chain(16);
  for (int i = 0; i < 3; ++i) chain.cos();
  Graph joint = chain.finish();
  const Plan plan = partition(joint, {});
  EXPECT_EQ(names(joint, plan.saved), Names{"primals_1"});
  const ForwardBackward parts = extract(joint, plan);
  EXPECT_EQ(parts.forward.output_values().size(), 2u);
  EXPECT_EQ(parts.forward.placeholders().size(), 1u);
  EXPECT_EQ(parts.backward.placeholders().size(), 2u);
  EXPECT_EQ(parts.backward.output_values().size(), 1u);
  EXPECT_EQ(plan.recomputed.size(), 2u);
  for (const NodeId id : parts.backward.order()) {
    const graph::Node& node = parts.backward[id];
    EXPECT_EQ(node.meta->autograd_backward, node.kind == graph::NodeKind::kCallFunction) << node.name;
  }
}

TEST(Partition, DefaultSavesEveryCosinesInput) {
  ChainBuilder chain(16);
  for (int i = 0; i < 3; ++i) chain.cos();
  Graph joint = chain.finish();
  for (const NodeId id : joint.order())
    if (joint[id].target == "aten.cos.default") joint.meta(id).partitioner_tag = PartitionerTag::kForward;
  PartitionOptions options;
  options.method = Method::kDefault;
  const Plan plan = partition(joint, options);
  EXPECT_EQ(names(joint, plan.saved), chain.input_names());
  EXPECT_TRUE(plan.recomputed.empty());
}

TEST(Partition, MarkedForRecomputationIsRecomputed) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4, 4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4, 4})));
  const NodeId mm = g.call("aten.mm.default", {arg(x), arg(x)}, graph::Value(b.tensor({4, 4})));
  const NodeId out = g.call("aten.sigmoid.default", {arg(mm)}, graph::Value(b.tensor({4, 4})));
  const NodeId grad = g.call("aten.mul.Tensor", {arg(tangent), arg(mm)}, graph::Value(b.tensor({4, 4})));
  g.output({out, grad});
  g.num_forward_outputs = 1;
  Graph plain = g;
  EXPECT_EQ(names(plain, partition(plain, {}).saved), Names{"mm"});
  Graph marked = g;
  marked.meta(mm).recompute = CheckpointPolicy::kPreferRecompute;
  EXPECT_EQ(names(marked, partition(marked, {}).saved), Names{"primals_1"});
}

TEST(Partition, ContradictingMarksAreExplained) {
  // The tuple can't be saved, its operator mustn't be repeated, and the backward takes it apart itself.
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4, 4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
  graph::TupleValue pair{{graph::Value(b.tensor({4})), graph::Value(b.tensor({4}))}};
  const NodeId sorted = g.call("aten.sort.default", {arg(x)}, graph::Value(pair), "sorted");
  const NodeId first = g.call("operator.getitem", {arg(sorted), 0}, graph::Value(b.tensor({4})));
  const NodeId second = g.call("operator.getitem", {arg(sorted), 1}, graph::Value(b.tensor({4})), "second");
  g.meta(second).recompute = CheckpointPolicy::kMustRecompute;
  const NodeId grad = g.call("aten.mul.Tensor", {arg(tangent), arg(second)}, graph::Value(b.tensor({4})));
  g.output({first, grad});
  g.num_forward_outputs = 1;
  try {
    partition(g, {});
    FAIL() << "the cut is infinite";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(error.message().find(
                  "'sorted' cannot recompute: not in recomputable allowlist, cannot be saved: non-tensor output"),
              std::string::npos)
        << error.message();
    EXPECT_NE(error.message().find("'second' reads 'sorted', is marked for recomputation"), std::string::npos)
        << error.message();
  }
}

TEST(Partition, ValueReturnedAsGradientIsSaved) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
  const NodeId y = g.call("aten.sin.default", {arg(x)}, graph::Value(b.tensor({4})));
  const NodeId grad = g.call("aten.neg.default", {arg(tangent)}, graph::Value(b.tensor({4})));
  g.output({y, grad, x});
  g.num_forward_outputs = 1;
  const Plan plan = partition(g, {});
  EXPECT_EQ(names(g, plan.saved), Names{"primals_1"});
  EXPECT_EQ(extract(g, plan).backward.output_values().size(), 2u);
}

TEST(Partition, SymbolsComeLastAndAreBound) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  g.symbols["s0"] = {8, 2, std::nullopt, false};
  const NodeId size = g.placeholder("primals_1", graph::Value(graph::SymIntValue{graph::SymExpr::symbol("s0")}));
  graph::TensorMeta dynamic = b.tensor({8});
  dynamic.shape = {graph::SymExpr::symbol("s0")};
  const NodeId x = g.placeholder("primals_2", graph::Value(dynamic));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({})));
  const NodeId sum = g.call("aten.sum.default", {arg(x)}, graph::Value(b.tensor({})));
  const NodeId grad =
      g.call("aten.expand.default", {arg(tangent), graph::Argument::list({arg(size)})}, graph::Value(dynamic));
  g.output({sum, kNoNode, grad});
  g.num_forward_outputs = 1;
  const Plan plan = partition(g, {});
  EXPECT_TRUE(plan.saved.empty()) << "only the size is needed, not the tensor";
  EXPECT_EQ(names(g, plan.saved_symbols), Names{"primals_1"});
}

TEST(Partition, RecomputeOnlyFreeKeepsWhatCostsAPass) {
  ChainBuilder chain(16);
  for (int i = 0; i < 3; ++i) chain.cos();
  Graph joint = chain.finish();
  PartitionOptions options;
  options.recompute_only_free = true;
  const Plan plan = partition(joint, options);
  EXPECT_EQ(names(joint, plan.saved), chain.input_names());
  EXPECT_TRUE(plan.recomputed.empty());
}

TEST(Partition, MarksThatCannotHoldAreNamed) {
  const auto message = [](auto&& change) -> std::string {
    test::StepBuilder b;
    Graph& g = b.step.graph;
    const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
    const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
    const NodeId sin = g.call("aten.sin.default", {arg(x)}, graph::Value(b.tensor({4})));
    const NodeId grad = g.call("aten.mul.Tensor", {arg(tangent), arg(sin)}, graph::Value(b.tensor({4})), "grad");
    g.output({sin, grad});
    g.num_forward_outputs = 1;
    change(g);
    try {
      partition(g, {});
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUser ? error.message() : "another kind of error";
    }
    return "";
  };
  EXPECT_EQ(message([](Graph& g) { g.meta(g.find("primals_1")).recompute = CheckpointPolicy::kMustRecompute; }),
            "input 'primals_1' is marked for recomputation, but there is nothing to compute an input from; take the "
            "mark off");
  EXPECT_NE(message([](Graph& g) {
              g.meta(g.find("grad")).partitioner_tag = graph::PartitionerTag::kMustBeInForward;
            }).find("'grad' (aten.mul.Tensor) is tagged must_be_in_forward, but depends on an incoming gradient"),
            std::string::npos);
}

}  // namespace
}  // namespace sapwood::partition
