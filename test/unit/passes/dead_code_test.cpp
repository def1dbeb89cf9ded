#include "passes/dead_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/verify.h"

namespace sapwood::passes {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using ::testing::IsEmpty;

Argument arg(NodeId id) { return Argument::node(id); }

TEST(DeadCode, RemovesChainsThatNothingReads) {
  Graph g;
  const NodeId x = g.placeholder("x", {});
  g.placeholder("unused", {});
  const NodeId a = g.call("aten.sin.default", {arg(x)}, {});
  g.call("aten.cos.default", {arg(a)}, {});
  g.output({g.call("aten.neg.default", {arg(x)}, {})});
  EXPECT_TRUE(remove_dead_nodes(g));
  EXPECT_EQ(g.size(), 4U) << "x, unused, neg and the output";
  EXPECT_NE(g.find("unused"), kNoNode) << "placeholders stay: they are the signature";
  EXPECT_FALSE(remove_dead_nodes(g));
  EXPECT_THAT(graph::verify(g), IsEmpty());
}

TEST(DeadCode, KeepsEffects) {
  Graph g;
  const NodeId x = g.placeholder("x", {});
  g.call("aten.add_.Scalar", {arg(x), 1}, {});
  const NodeId marked = g.call("aten.sin.default", {arg(x)}, {});
  g.meta(marked).impure = true;
  g.ops["my.write.default"] = {"my::write(Tensor(a!) self) -> ()", {}, true, false};
  g.call("my.write.default", {arg(x)}, {});
  g.output({x});
  EXPECT_FALSE(remove_dead_nodes(g));
  EXPECT_EQ(g.size(), 5U);
}

TEST(DeadCode, RandomOperatorsHaveNoEffectUnlessAskedFor) {
  Graph g;
  const NodeId x = g.placeholder("x", {});
  const NodeId drawn = g.call("aten.rand_like.default", {arg(x)}, {});
  g.call("aten.sin.default", {arg(drawn)}, {});
  g.meta(drawn).partitioner_tag = graph::PartitionerTag::kForward;
  g.output({x});
  EXPECT_TRUE(remove_dead_nodes_but_draws(g));
  EXPECT_EQ(g.size(), 3U) << "the reader is gone, the draw stays";
  EXPECT_TRUE(g[drawn].meta->impure);
  EXPECT_EQ(g[drawn].meta->partitioner_tag, graph::PartitionerTag::kMustBeInForward);
  EXPECT_FALSE(remove_dead_nodes_but_draws(g));
  g.meta(drawn).impure = false;
  EXPECT_TRUE(remove_dead_nodes(g));
  EXPECT_EQ(g.size(), 2U);
}

TEST(DeadCode, CleansTheBodiesOfHigherOrderOperators) {
  Graph g;
  auto body = std::make_shared<Graph>();
  const NodeId a = body->placeholder("a", {});
  body->call("aten.sin.default", {arg(a)}, {});
  body->output({a});
  g.subgraphs["body"] = body;
  g.output({});
  EXPECT_TRUE(remove_dead_nodes(g));
  EXPECT_EQ(body->size(), 2U);
}

}  // namespace
}  // namespace sapwood::passes
