#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/joint_graph.h"
#include "graph/verify.h"

namespace sapwood::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Argument arg(NodeId id) { return Argument::node(id); }

template <typename Step>
std::string internal_error_of(Step step) {
  try {
    step();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kInternal ? error.message() : "wrong kind: " + error.message();
  }
  return "no error";
}

class GraphTest : public ::testing::Test {
 protected:
  Graph g;
  NodeId x = g.placeholder("x", {});
  NodeId y = g.placeholder("y", {});
};

TEST_F(GraphTest, NamesAreDerivedFromTargetsAsFxDoes) {
  EXPECT_EQ(g[g.call("aten.mm.default", {arg(x), arg(y)}, {})].name, "mm");
  EXPECT_EQ(g[g.call("aten.mm.default", {arg(x), arg(y)}, {})].name, "mm_1");
  EXPECT_EQ(g[g.call("aten.mm.default", {arg(x), arg(y)}, {})].name, "mm_2");
  EXPECT_EQ(g[g.call("aten._softmax.default", {arg(x)}, {})].name, "_softmax");
  EXPECT_EQ(g[g.call("aten.add_.Tensor", {arg(x), arg(y)}, {})].name, "add_");
  EXPECT_EQ(g[g.call("aten.sum.dim_IntList", {arg(x)}, {})].name, "sum_1") << "sum is a name of Python";
  EXPECT_EQ(g[g.call("operator.getitem", {arg(x), 0}, {})].name, "getitem");
  EXPECT_EQ(g[g.call("higher_order.cond", {arg(x)}, {})].name, "cond");
  EXPECT_EQ(g[g.call("torch.sym_max", {arg(x)}, {})].name, "sym_max");
}

TEST_F(GraphTest, UniqueNamesContinueFromTheLargestSuffix) {
  EXPECT_EQ(g.unique_name("mm"), "mm");
  g.call("aten.mm.default", {arg(x), arg(y)}, {}, "mm");
  g.call("aten.mm.default", {arg(x), arg(y)}, {}, "mm_7");
  EXPECT_EQ(g.unique_name("mm"), "mm_8");
  EXPECT_EQ(g.unique_name("mm_7"), "mm_8");
  EXPECT_EQ(g.unique_name("1 b"), "_1_b");
  EXPECT_EQ(g.unique_name(""), "_unnamed");
}

TEST_F(GraphTest, UsersAreKeptOnceEachInTheOrderInWhichTheyCame) {
  const NodeId add = g.call("aten.add.Tensor", {arg(x), arg(x)}, {});
  const NodeId cat = g.call("aten.cat.default", {Argument::list({arg(y), arg(add), arg(x)})}, {});
  EXPECT_THAT(g[x].users, ElementsAre(add, cat));
  EXPECT_THAT(g.inputs(cat), ElementsAre(y, add, x));
  g.set_args(add, {arg(y), arg(y)});
  EXPECT_THAT(g[x].users, ElementsAre(cat));
  EXPECT_THAT(g[y].users, ElementsAre(cat, add));
  g.set_kwargs(add, {{"alpha", arg(x)}});
  EXPECT_THAT(g[x].users, ElementsAre(cat, add));
  g.set_user_order(x, {add, cat});
  EXPECT_THAT(g[x].users, ElementsAre(add, cat));
  EXPECT_THAT(internal_error_of([&] { g.set_user_order(x, {add, add}); }), HasSubstr("not a permutation"));
}

TEST_F(GraphTest, NodesInEveryKindOfContainerCount) {
  const NodeId call = g.call(
      "aten.f.default", {TupleArg{{arg(x)}}, SliceArg{{Argument(), arg(y), Argument()}}, DictArg{{{"k", arg(x)}}}}, {});
  EXPECT_THAT(g.inputs(call), ElementsAre(x, y));
  g.replace_all_uses(y, x);
  EXPECT_THAT(g.inputs(call), ElementsAre(x));
  EXPECT_THAT(g[y].users, IsEmpty());
  EXPECT_THAT(g[x].users, ElementsAre(call));
}

TEST_F(GraphTest, ReplacingUsesMovesEveryReaderOnce) {
  const NodeId a = g.call("aten.sin.default", {arg(x)}, {});
  const NodeId b = g.call("aten.cos.default", {arg(x)}, {});
  const NodeId c = g.call("aten.add.Tensor", {arg(a), arg(b)}, {});
  const NodeId d = g.call("aten.neg.default", {arg(b)}, {});
  g.output({c, d, b});
  g.replace_all_uses(b, a);
  EXPECT_THAT(g[b].users, IsEmpty());
  EXPECT_THAT(g[a].users, ElementsAre(c, d, g.output()));
  EXPECT_THAT(g.output_values(), ElementsAre(c, d, a));
  g.erase(b);
  EXPECT_EQ(g.find("cos"), kNoNode);
  EXPECT_THAT(verify(g), IsEmpty());
}

TEST_F(GraphTest, ReplacingSomeUsesLeavesTheOthers) {
  const NodeId a = g.call("aten.sin.default", {arg(x)}, {});
  const NodeId b = g.call("aten.cos.default", {arg(x)}, {});
  const NodeId c = g.call("aten.add.Tensor", {arg(a), arg(b)}, {});
  const NodeId d = g.call("aten.mul.Tensor", {arg(b), arg(b)}, {});
  g.output({c, d, b});
  g.replace_uses(b, a, {c, d});
  EXPECT_THAT(g[b].users, ElementsAre(g.output()));
  EXPECT_THAT(g[a].users, ElementsAre(c, d));
  EXPECT_THAT(g.inputs(d), ElementsAre(a));
  EXPECT_THAT(g.output_values(), ElementsAre(c, d, b));
  g.replace_uses(a, a, {c});
  EXPECT_THAT(verify(g), IsEmpty());
}

TEST_F(GraphTest, OrderFollowsTheInsertionPointAndMoves) {
  const NodeId a = g.call("aten.sin.default", {arg(x)}, {});
  const NodeId out = g.output({a, kNoNode});
  g.set_insertion_point(out);
  const NodeId b = g.call("aten.cos.default", {arg(x)}, {});
  EXPECT_THAT(g.order(), ElementsAre(x, y, a, b, out));
  g.move_before(b, a);
  EXPECT_THAT(g.order(), ElementsAre(x, y, b, a, out));
  g.move_before(b, a);
  EXPECT_THAT(g.order(), ElementsAre(x, y, b, a, out));
  g.move_before(y, x);
  EXPECT_THAT(g.order(), ElementsAre(y, x, b, a, out));
  EXPECT_EQ(g.first(), y);
  EXPECT_THAT(g.placeholders(), ElementsAre(y, x));
  EXPECT_THAT(g.output_values(), ElementsAre(a, kNoNode));
  g.set_insertion_point(b);
  g.erase(b);
  EXPECT_EQ(g.insertion_point(), a) << "an insertion point that is erased moves to the next node";
  EXPECT_EQ(g.size(), 4U);
  EXPECT_EQ(g.id_bound(), 5U);
}

TEST_F(GraphTest, WrongChangesAreInternalErrorsThatNameTheNode) {
  const NodeId a = g.call("aten.sin.default", {arg(x)}, {});
  EXPECT_THAT(internal_error_of([&] { g.placeholder("x", {}); }), HasSubstr("'x' is taken"));
  EXPECT_THAT(internal_error_of([&] { g.call("aten.sin.default", {arg(99)}, {}); }), HasSubstr("reads node 99"));
  EXPECT_THAT(internal_error_of([&] { g.erase(x); }), HasSubstr("'sin' still reads it"));
  EXPECT_THAT(internal_error_of([&] { g.rename(a, "y"); }), HasSubstr("the name is taken"));
  g.erase(a);
  EXPECT_THAT(internal_error_of([&] { g.erase(a); }), HasSubstr("erased twice"));
  EXPECT_THAT(internal_error_of([&] { g.call("aten.sin.default", {arg(a)}, {}); }), HasSubstr("not in graph"));
}

TEST_F(GraphTest, RenamedNodesAreFoundByTheirNewName) {
  g.rename(x, "input_1");
  EXPECT_EQ(g.find("input_1"), x);
  EXPECT_EQ(g.find("x"), kNoNode);
  EXPECT_EQ(g.unique_name("x"), "x");
}

TEST_F(GraphTest, CopiesAreDeep) {
  g.subgraphs["body"] = std::make_shared<Graph>();
  g.subgraphs["body"]->name = "body";
  Graph copy = g;
  copy.rename(copy.find("x"), "z");
  copy.subgraphs["body"]->name = "other";
  EXPECT_EQ(g.find("x"), x);
  EXPECT_EQ(g.subgraphs["body"]->name, "body");
  EXPECT_EQ(copy.find("z"), x) << "ids are equal";
}

TEST_F(GraphTest, AttributesBringTheirValue) {
  TensorMeta meta;
  meta.shape = {3};
  g.attributes["weight"] = {meta, {}};
  const NodeId weight = g.get_attr("w", "weight");
  ASSERT_NE(g[weight].tensor(), nullptr);
  EXPECT_EQ(g[weight].tensor()->shape.size(), 1U);
}

TEST_F(GraphTest, ManyDistinctInputsAreStillDistinct) {
  ArgumentList items;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 100; ++i) nodes.push_back(g.call("aten.sin.default", {arg(x)}, {}));
  for (int round = 0; round < 2; ++round)
    for (const NodeId id : nodes) items.push_back(arg(id));
  const NodeId cat = g.call("aten.cat.default", {Argument::list(items)}, {});
  EXPECT_EQ(g.inputs(cat), nodes);
  EXPECT_THAT(g[nodes[50]].users, ElementsAre(cat));
}

TEST(JointGraph, RolesHaveNames) {
  EXPECT_EQ(input_role_name(InputRole::kParameter), "parameter");
  EXPECT_EQ(output_role_name(OutputRole::kWriteBack), "write_back");
}

}  // namespace
}  // namespace sapwood::graph
