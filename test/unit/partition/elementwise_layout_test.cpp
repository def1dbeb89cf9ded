#include "partition/elementwise_layout.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "unit/partition/pair_text.h"

namespace sapwood::partition {
namespace {

using graph::DType;
using graph::SymExpr;
using graph::TensorMeta;

constexpr const char* kSymbols = "  symbol s0 = 6 in [2, inf]\n  symbol s1 = 8 in [2, inf]\n";

graph::Graph holding(const std::string& first, const std::string& second) {
  return graph::parse_any(std::string("graph g {\n") + kSymbols + "  %a : " + first +
                          " = placeholder\n  %b : " + second + " = placeholder\n  return (%a)\n}\n");
}

/// The strides of the result of an operator of one or two tensors.
std::vector<std::string> strides_of(const std::string& first, const std::string& second = {}) {
  const graph::Graph graph = holding(first, second.empty() ? first : second);
  std::vector<const TensorMeta*> operands{graph[graph.find("a")].tensor()};
  if (!second.empty()) operands.push_back(graph[graph.find("b")].tensor());
  const TensorMeta result = elementwise_result(operands, DType::kFloat64, graph.symbols, 7);
  EXPECT_EQ(result.shape, operands.front()->shape);
  EXPECT_EQ(result.dtype, DType::kFloat64);
  EXPECT_EQ(result.device, operands.front()->device);
  EXPECT_EQ(result.storage, 7);
  EXPECT_EQ(result.offset, SymExpr(0));
  EXPECT_EQ(result.storage_bytes, SymExpr(8) * result.numel());
  std::vector<std::string> strides;
  for (const SymExpr& stride : *result.stride) strides.push_back(stride.str());
  return strides;
}

using Strides = std::vector<std::string>;

// The expected strides are those of `aten.abs` and `aten.mul` in PyTorch 2.13.
TEST(ElementwiseLayout, DenseTensorsKeepTheirOrderOfDimensions) {
  EXPECT_EQ(strides_of("float32[4, 6, 8]"), (Strides{"48", "8", "1"}));
  EXPECT_EQ(strides_of("float32[4, 6, 8]{1, 32, 4}"), (Strides{"1", "32", "4"}));
  EXPECT_EQ(strides_of("float32[2, 3, 4, 5]{60, 1, 15, 3}<device=cuda:1>"), (Strides{"60", "1", "15", "3"}));
}

TEST(ElementwiseLayout, StridesOfSingleElementsDontMatter) {
  EXPECT_EQ(strides_of("float32[4, 1, 8]{8, 1, 1}"), (Strides{"8", "8", "1"})) << "row-major";
  EXPECT_EQ(strides_of("float32[4, 1, 8]{1, 1, 4}"), (Strides{"1", "1", "4"}));
}

TEST(ElementwiseLayout, GapsAndBroadcastsAreClosed) {
  EXPECT_EQ(strides_of("float32[4, 6, 8]{0, 8, 1}"), (Strides{"48", "8", "1"}));
  EXPECT_EQ(strides_of("float32[4, 6]{2, 8}"), (Strides{"1", "4"}));
  EXPECT_EQ(strides_of("float32[4, 6]{0, 0}"), (Strides{"6", "1"}));
}

TEST(ElementwiseLayout, TheFirstOperandDecidesUnlessItBroadcasts) {
  EXPECT_EQ(strides_of("float32[4, 6, 8]{1, 32, 4}", "float32[4, 6, 1]"), (Strides{"1", "32", "4"}));
  EXPECT_EQ(strides_of("float32[4, 6]{0, 1}", "float32[4, 6]{1, 4}"), (Strides{"1", "4"}));
  EXPECT_EQ(strides_of("float32[4, 6]", "float32[4, 6]{1, 4}"), (Strides{"6", "1"}));
}

TEST(ElementwiseLayout, SymbolicSizesGiveSymbolicStrides) {
  EXPECT_EQ(strides_of("float32[s0, s1, 4]"), (Strides{"4*s1", "4", "1"}));
  EXPECT_EQ(strides_of("float32[s0, s1]{1, s0}"), (Strides{"1", "s0"}));
  EXPECT_EQ(strides_of("float32[s0, s1]{1, 2*s0}"), (Strides{"1", "s0"}));
  EXPECT_EQ(strides_of("float32[s0, s1]{1, s0}", "float32[s0, 1]"), (Strides{"1", "s0"}));
}

TEST(ElementwiseLayout, RowMajorIsWithoutGapsInOrder) {
  const auto row_major = [](const std::string& type) {
    const graph::Graph graph = holding(type, type);
    return is_row_major(*graph[graph.find("a")].tensor());
  };
  EXPECT_TRUE(row_major("float32[]"));
  EXPECT_TRUE(row_major("float32[4, 1, 8]{8, 3, 1}"));
  EXPECT_TRUE(row_major("float32[s0, 1, s1]"));
  EXPECT_FALSE(row_major("float32[4, 8]{1, 4}"));
  EXPECT_FALSE(row_major("float32[4, 8]{16, 1}"));
  EXPECT_FALSE(row_major("float32[s0, s1]{1, s0}"));
}

TEST(Pair, FactsFollowFromTheForward) {
  const ForwardBackward pair = test::parse_pair(
      "  num_forward_outputs 1\n  static_lifetime_inputs [1]\n  symbol s0 = 6 in [2, inf]\n"
      "  %n : symint(s0) = placeholder\n  %w : float32[s0] = placeholder\n  %x : float32[s0] = placeholder\n"
      "  %sin : float32[s0] = aten.sin.default(%x)\n  return (%sin, %w, %sin, None, %x, %sin, %n)\n",
      "  %x : float32[4] = placeholder\n  return (%x)\n");
  const PairFacts facts = facts_of(pair);
  EXPECT_EQ(facts.user_outputs, 1);
  EXPECT_EQ(facts.saved, (test::Lines{"w", "sin", "x"}));
  EXPECT_EQ(facts.static_inputs, test::Lines{"w"});
}

TEST(Pair, NewOperatorsAreDeclaredWhereOthersAre) {
  graph::Graph graph = graph::parse_any(
      "graph g {\n  op aten.sin.default \"aten::sin(Tensor self) -> Tensor\"\n  %x : float32[4] = placeholder\n"
      "  %sin : float32[4] = aten.sin.default(%x)\n  return (%sin)\n}\n");
  const graph::NodeId x = graph.find("x");
  add_call(graph, graph.output(), {"cos", "aten.cos.default", {graph::Argument::node(x)}, graph[x].val});
  EXPECT_FALSE(graph::verify(graph).empty());
  declare_operators(graph);
  test::expect_sound(graph);
  EXPECT_EQ(graph.ops.at("aten.cos.default").schema, "aten::cos(Tensor self) -> Tensor");
}

}  // namespace
}  // namespace sapwood::partition
