#include "graph/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sapwood::graph {
namespace {

TEST(Argument, IntFloatAndBoolAreDifferentValues) {
  EXPECT_FALSE(Argument(1) == Argument(1.0));
  EXPECT_FALSE(Argument(1) == Argument(true));
  EXPECT_TRUE(Argument(1) == Argument(int64_t{1}));
}

TEST(Argument, FloatsCompareByBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Argument(nan) == Argument(nan));
  EXPECT_FALSE(Argument(0.0) == Argument(-0.0));
  EXPECT_TRUE(Argument(std::complex<double>(1, nan)) == Argument(std::complex<double>(1, nan)));
  EXPECT_FALSE(Argument(std::complex<double>(0.0, 1)) == Argument(std::complex<double>(-0.0, 1)));
}

TEST(Argument, ContainersCompareByKindAndContent) {
  EXPECT_TRUE(Argument::ints({1, 2}) == Argument::list({1, 2}));
  EXPECT_FALSE(Argument(ListArg{{1}}) == Argument(TupleArg{{1}}));
  EXPECT_FALSE(Argument(DictArg{{{"a", 1}}}) == Argument(DictArg{{{"b", 1}}}));
  EXPECT_TRUE(Argument(SliceArg{{0, 1, Argument()}}) == Argument(SliceArg{{0, 1, Argument()}}));
  EXPECT_FALSE(Argument(OperatorArg{"a"}) == Argument(OperatorArg{"b"}));
  EXPECT_FALSE(Argument(OperatorArg{"a"}) == Argument(OpaqueArg{"a"}));
}

TEST(Argument, NodesAreVisitedInOrderWithRepetitions) {
  const Argument arg =
      Argument::list({Argument::node(3), TupleArg{{Argument::node(1), DictArg{{{"k", Argument::node(3)}}}}},
                      SliceArg{{Argument::node(7)}}});
  std::vector<NodeId> seen;
  for_each_node(arg, [&](NodeId id) { seen.push_back(id); });
  EXPECT_EQ(seen, (std::vector<NodeId>{3, 1, 3, 7}));
}

TEST(Value, ValuesCompareByContent) {
  TensorMeta a;
  a.shape = {SymExpr::symbol("s0"), 4};
  TensorMeta b = a;
  EXPECT_TRUE(Value(a) == Value(b));
  b.storage = 1;
  EXPECT_FALSE(Value(a) == Value(b));
  EXPECT_FALSE(Value(TupleValue{{a}}) == Value(ListValue{{a}}));
  EXPECT_TRUE(Value(ConstValue{1}) == Value(ConstValue{1}));
  EXPECT_FALSE(Value(ConstValue{1}) == Value(ConstValue{1.0}));
  EXPECT_TRUE(Value(NoneValue{}) == Value());
  EXPECT_FALSE(Value(DictValue{{{"a", a}}}) == Value(DictValue{{{"b", a}}}));
}

TEST(TensorMeta, CountsElements) {
  TensorMeta meta;
  EXPECT_EQ(meta.numel(), SymExpr(1)) << "a scalar";
  meta.shape = {SymExpr::symbol("s0"), 4, SymExpr::symbol("s0")};
  EXPECT_EQ(meta.numel().str(), "4*s0**2");
  meta.shape.emplace_back(0);
  EXPECT_EQ(meta.numel(), SymExpr(0));
}

}  // namespace
}  // namespace sapwood::graph
