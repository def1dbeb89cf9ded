#include "partition/random_state.h"

#include <gtest/gtest.h>

#include "partition/partition.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::Graph;
using graph::Node;
using graph::NodeId;

/// A dropout that a checkpoint recomputes; its items have the numbers given, 0 standing for the bare name.
Graph checkpointed_dropout(const std::vector<std::string>& items) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const auto add = [&](const std::string& name, const std::string& target, graph::ArgumentList args,
                       graph::Value value) {
    const NodeId id = g.call(target, std::move(args), std::move(value), name);
    g.meta(id).partitioner_tag = b.part;
    if (b.part == graph::PartitionerTag::kForward) g.meta(id).recompute = graph::CheckpointPolicy::kPreferRecompute;
    return id;
  };
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
  g.meta(x).partitioner_tag = graph::PartitionerTag::kForward;
  g.meta(tangent).partitioner_tag = graph::PartitionerTag::kBackward;
  graph::TensorMeta mask = b.tensor({4});
  mask.dtype = graph::DType::kBool;
  const NodeId pair = add("native_dropout", "aten.native_dropout.default", {Argument::node(x), 0.5, true},
                          graph::Value(graph::TupleValue{{graph::Value(b.tensor({4})), graph::Value(mask)}}));
  const NodeId y = add(items[0], "operator.getitem", {Argument::node(pair), 0}, graph::Value(b.tensor({4})));
  const NodeId kept = add(items[1], "operator.getitem", {Argument::node(pair), 1}, graph::Value(mask));
  b.part = graph::PartitionerTag::kBackward;
  const NodeId gradient = add("native_dropout_backward", "aten.native_dropout_backward.default",
                              {Argument::node(tangent), Argument::node(kept), 2.0}, graph::Value(b.tensor({4})));
  g.output({y, gradient});
  g.num_forward_outputs = 1;
  return g;
}

/// Names of the items of what the forward draws with: the state, the result.
std::vector<std::string> items_of_saved_state(Graph joint) {
  PartitionOptions options;
  options.compatibility = Compatibility::kTorch213;
  options.method = Method::kDefault;
  const ForwardBackward parts = extract(joint, partition(joint, options));
  std::vector<std::string> names;
  for (const NodeId id : parts.forward.order()) {
    const Node& node = parts.forward[id];
    if (node.is_call("operator.getitem") &&
        parts.forward[parts.forward.inputs(id).front()].is_call("higher_order.run_and_save_rng_state"))
      names.push_back(node.name);
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(RandomStateNames, ItemsGetTheNumbersBehindTheForwardsLastItem) {
  EXPECT_EQ(items_of_saved_state(checkpointed_dropout({"getitem", "getitem_1"})), (Names{"getitem_2", "getitem_3"}));
}

TEST(RandomStateNames, TheBareNameGoesFirstWhereNoItemHasIt) {
  EXPECT_EQ(items_of_saved_state(checkpointed_dropout({"getitem_2", "getitem_3"})), (Names{"getitem", "getitem_4"}));
}

TEST(RandomStateNames, NumbersGoOnFromTheLastItemAndNotFromTheLargest) {
  EXPECT_EQ(items_of_saved_state(checkpointed_dropout({"getitem_7", "getitem_3"})), (Names{"getitem", "getitem_4"}));
}

}  // namespace
}  // namespace sapwood::partition
