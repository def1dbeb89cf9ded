#include "passes/common_subexpression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/verify.h"
#include "passes/python_hash.h"

namespace sapwood::passes {
namespace {

using graph::Argument;
using graph::ArgumentList;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Argument arg(NodeId id) { return Argument::node(id); }

graph::TensorMeta tensor(int32_t storage) {
  graph::TensorMeta meta;
  meta.storage = storage;
  meta.stride.emplace();
  meta.offset = 0;
  meta.storage_bytes = 4;
  return meta;
}

class CseTest : public ::testing::Test {
 protected:
  NodeId call(std::string_view target, ArgumentList args) { return g.call(target, std::move(args), {}); }

  /// Lets everything reach the output through one call, merges, and tells how many nodes went away.
  size_t merged() {
    ArgumentList all;
    for (const NodeId id : g.order())
      if (g[id].kind == graph::NodeKind::kCallFunction) all.push_back(arg(id));
    g.output({call("aten.cat.default", {Argument::list(std::move(all))})});
    const size_t before = g.size();
    const bool changed = merge_common_subexpressions(g);
    EXPECT_EQ(changed, g.size() != before);
    EXPECT_THAT(graph::verify(g), IsEmpty());
    return before - g.size();
  }

  Graph g;
  NodeId x = g.placeholder("x", {});
  NodeId y = g.placeholder("y", {});
};

TEST_F(CseTest, MergesWholeChainsIntoTheFirst) {
  const NodeId a = call("aten.sin.default", {arg(x)});
  const NodeId b = call("aten.sin.default", {arg(x)});
  const NodeId c = call("aten.cos.default", {arg(a)});
  const NodeId d = call("aten.cos.default", {arg(b)});
  EXPECT_EQ(merged(), 2U);
  EXPECT_EQ(g.find("sin"), a);
  EXPECT_EQ(g.find("cos"), c);
  EXPECT_EQ(g.find("sin_1"), kNoNode);
  EXPECT_EQ(g.find("cos_1"), kNoNode);
  EXPECT_TRUE(g[b].erased && g[d].erased);
}

TEST_F(CseTest, TellsTypesOfNumbersApart) {
  call("aten.mul.Scalar", {arg(x), 1});
  call("aten.mul.Scalar", {arg(x), 1.0});
  call("aten.mul.Scalar", {arg(x), true});
  call("aten.mul.Scalar", {arg(x), 0.0});
  call("aten.mul.Scalar", {arg(x), -0.0});
  EXPECT_EQ(merged(), 0U);
}

TEST_F(CseTest, TellsTargetsStructureAndKeywordsApart) {
  call("aten.f.default", {arg(x), Argument::ints({1, 2}), 3});
  call("aten.f.default", {arg(x), Argument::ints({1}), 2, 3});
  call("aten.f.default", {arg(x), graph::TupleArg{{1, 2}}, 3});
  call("aten.f.other", {arg(x), Argument::ints({1, 2}), 3});
  const NodeId a = call("aten.g.default", {arg(x)});
  g.set_kwargs(a, {{"dim", 1}});
  const NodeId b = call("aten.g.default", {arg(x)});
  g.set_kwargs(b, {{"axis", 1}});
  EXPECT_EQ(merged(), 0U);
}

// PyTorch looks a call up by Python's hash and remembers the first call of each hash only.
TEST_F(CseTest, FollowsPythonsHashOfMinusOneAndMinusTwo) {
  call("aten.sum.dim_IntList", {arg(x), -1});
  call("aten.sum.dim_IntList", {arg(x), -2});
  call("aten.sum.dim_IntList", {arg(x), -2});
  call("aten.sum.dim_IntList", {arg(x), -1});
  EXPECT_EQ(merged(), 1U) << "only the second sum over -1 is merged";
  EXPECT_NE(g.find("sum_3"), kNoNode);
  EXPECT_EQ(g.find("sum_4"), kNoNode);
}

TEST_F(CseTest, FollowsPythonsHashOfLargeIntegers) {
  const int64_t end = std::numeric_limits<int64_t>::max();
  call("aten.slice.Tensor", {arg(x), 0, 0, 3});
  call("aten.slice.Tensor", {arg(x), 0, 0, Argument(end)});
  call("aten.slice.Tensor", {arg(x), 0, 0, Argument(end)});
  EXPECT_EQ(merged(), 0U);
}

TEST_F(CseTest, NeverMergesRandomOrUninitialisedValues) {
  for (int i = 0; i < 2; ++i) {
    call("aten.rand_like.default", {arg(x)});
    call("aten.native_dropout.default", {arg(x), 0.5, true});
    call("aten.bernoulli.p", {arg(x), 0.5});
    call("aten.randn.default", {Argument::ints({2})});
    call("aten.empty.memory_format", {Argument::ints({2})});
    call("aten.empty_like.default", {arg(x)});
    call("aten.new_empty_strided.default", {arg(x), Argument::ints({2}), Argument::ints({1})});
  }
  EXPECT_EQ(merged(), 0U);
}

TEST_F(CseTest, KeepsOperatorsDeclaredRandomByTheGraph) {
  g.ops["my.noise.default"] = {"my::noise(Tensor x) -> Tensor", {"nondeterministic_seeded"}, false, false};
  g.ops["my.pure.default"] = {"my::pure(Tensor x) -> Tensor", {}, false, false};
  g.ops["aten.cat.default"] = {};
  for (int i = 0; i < 2; ++i) {
    call("my.noise.default", {arg(x)});
    call("my.pure.default", {arg(x)});
  }
  EXPECT_EQ(merged(), 1U);
}

TEST_F(CseTest, LeavesWhatSharesAStorageWithAnOutput) {
  const NodeId a = g.call("aten.sin.default", {arg(x)}, tensor(1));
  const NodeId b = g.call("aten.sin.default", {arg(x)}, tensor(2));
  const NodeId c = g.call("aten.sin.default", {arg(x)}, tensor(3));
  const NodeId view = g.call("aten.view.default", {arg(b), Argument::ints({1})}, tensor(2));
  const NodeId d = g.call("aten.add.Tensor", {arg(a), arg(c)}, tensor(4));
  g.output({view, d});
  EXPECT_TRUE(merge_common_subexpressions(g));
  EXPECT_TRUE(g[c].erased);
  EXPECT_FALSE(g[b].erased) << "its view is returned";
  EXPECT_THAT(g.inputs(d), ElementsAre(a));
}

TEST_F(CseTest, MergesOnlyBetweenMutations) {
  call("aten.sin.default", {arg(x)});
  call("aten.sin.default", {arg(x)});
  call("aten.add_.Scalar", {arg(x), 1});
  const NodeId after = call("aten.sin.default", {arg(x)});
  call("aten.sin.default", {arg(x)});
  EXPECT_EQ(merged(), 2U);
  EXPECT_FALSE(g[after].erased) << "the later call stands for those that follow";
}

TEST_F(CseTest, MergesNothingAcrossAnUnknownOperator) {
  call("aten.sin.default", {arg(x)});
  call("my.unknown.default", {arg(x)});
  call("my.unknown.default", {arg(x)});
  call("aten.sin.default", {arg(x)});
  EXPECT_EQ(merged(), 0U);
}

TEST_F(CseTest, LeavesCallsThatBindUnbackedSymbols) {
  g.symbols["u0"].unbacked = true;
  g.symbols["u1"].unbacked = true;
  for (const char* symbol : {"u0", "u1"}) {
    const NodeId size =
        g.call("aten._local_scalar_dense.default", {arg(x)}, graph::SymIntValue{graph::SymExpr::symbol(symbol)});
    g.meta(size).unbacked_bindings = {{symbol, ""}};
    const NodeId id = call("aten.nonzero.default", {arg(x)});
    g.meta(id).unbacked_bindings = {{symbol, ".size()[0]"}};
  }
  EXPECT_EQ(merged(), 0U);
}

TEST_F(CseTest, MergesEqualArithmeticThatYieldsAnUnbackedSymbol) {
  g.symbols["u0"].unbacked = true;
  const auto u0 = graph::SymIntValue{graph::SymExpr::symbol("u0")};
  const NodeId size = g.call("aten.sym_size.int", {arg(x), 0}, u0);
  g.call("operator.add", {0, arg(size)}, u0);
  g.call("operator.add", {0, arg(size)}, u0);
  EXPECT_EQ(merged(), 1U);
}

TEST_F(CseTest, MergesAsPyTorchDoesWhereAsked) {
  for (const char* op : {"aten.randn_like.default", "aten.rand_like.default", "aten.empty_like.default"}) {
    call(op, {arg(x)});
    call(op, {arg(x)});
  }
  const size_t before = g.size();
  passes::merge_common_subexpressions_as_torch(g);
  EXPECT_EQ(before - g.size(), 2U) << "rand_like is on PyTorch's list, randn_like and empty_like are not";
}

TEST_F(CseTest, LeavesUsersInGraphOrder) {
  const NodeId a = call("aten.sin.default", {arg(x)});
  const NodeId late = call("aten.neg.default", {arg(a)});
  g.set_insertion_point(late);
  const NodeId early = call("aten.cos.default", {arg(a)});
  g.set_insertion_point(kNoNode);
  g.output({late, early});
  EXPECT_THAT(g[a].users, ElementsAre(late, early));
  EXPECT_FALSE(merge_common_subexpressions(g));
  EXPECT_THAT(g[a].users, ElementsAre(early, late));
}

TEST(PythonHash, EqualsCpython) {
  EXPECT_EQ(python_hash(int64_t{0}), 0);
  EXPECT_EQ(python_hash(int64_t{-1}), -2);
  EXPECT_EQ(python_hash(int64_t{-2}), -2);
  EXPECT_EQ(python_hash(std::numeric_limits<int64_t>::max()), 3);
  EXPECT_EQ(python_hash(std::numeric_limits<int64_t>::min()), -4);
  EXPECT_EQ(python_hash((int64_t{1} << 61) - 1), 0);
  EXPECT_EQ(python_hash(1.0), 1);
  EXPECT_EQ(python_hash(-1.0), -2);
  EXPECT_EQ(python_hash(0.5), 1152921504606846976);
  EXPECT_EQ(python_hash(0.1), 230584300921369408);
  EXPECT_EQ(python_hash(-3.75e-7), -311875138886535303);
  EXPECT_EQ(python_hash(1e300), 1224995262755759164);
  EXPECT_EQ(python_hash(std::numeric_limits<double>::infinity()), 314159);
}

}  // namespace
}  // namespace sapwood::passes
