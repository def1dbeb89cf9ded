#include "ops/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/flops.h"
#include "unit/partition/corpus.h"

namespace sapwood::ops {
namespace {

using graph::Graph;
using graph::NodeId;

bool has_tag(const graph::OpDecl& decl, std::string_view tag) {
  return std::ranges::find(decl.tags, tag) != decl.tags.end();
}

TEST(OpTable, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const OpRow& row : all_rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_GT(names.size(), 1000u);
}

TEST(OpTable, OverloadsOfOneOperatorAreRatedAlike) {
  std::map<std::string, Remat> ratings;
  for (const OpRow& row : all_rows()) {
    const OpInfo* info = find_op(row.name);
    ASSERT_NE(info, nullptr);
    const auto [rating, fresh] = ratings.emplace(info->packet, info->remat);
    EXPECT_EQ(rating->second, info->remat) << row.name;
  }
}

TEST(OpTable, AgreesWithTheCorpus) {
  std::set<std::string> compared;
  for (const std::string& model : test::corpus_models()) {
    const Graph joint = test::corpus_graph(model);
    for (const auto& [name, decl] : joint.ops) {
      const OpInfo* info = find_op(name);
      ASSERT_NE(info, nullptr) << name << " in " << model;
      if (!compared.insert(name).second) continue;
      const auto row = std::ranges::find(all_rows(), name, &OpRow::name);
      EXPECT_EQ(row->schema, decl.schema);
      EXPECT_EQ(info->is_mutable, decl.is_mutable) << name;
      EXPECT_EQ(info->is_view, decl.is_view) << name;
      EXPECT_EQ(info->draws, has_tag(decl, "nondeterministic_seeded")) << name;
      if (name == "prims.fma.default") continue;  // pointwise, but not on PyTorch's list of what may be recomputed
      EXPECT_TRUE(info->is_recomputable() || info->draws || !has_tag(decl, "pointwise")) << name;
    }
  }
  EXPECT_GT(compared.size(), 100u);
}

TEST(OpTable, CountsFlopsAsPyTorchDoes) {
  int counted = 0;
  for (const std::string& model : test::corpus_models()) {
    const Graph joint = test::corpus_graph(model);
    for (const NodeId id : joint.order()) {
      const auto recorded = joint[id].meta->flops;
      const auto flops = count_flops(joint, joint[id]);
      EXPECT_EQ(flops.value_or(1), recorded.value_or(1))
          << joint[id].name << " (" << joint[id].target << ") in " << model;
      if (recorded) ++counted;
    }
  }
  EXPECT_GT(counted, 1000);
}

TEST(OpTable, AttentionCountsTwoProductsForwardAndFiveBackward) {
  Graph g;
  graph::TensorMeta meta;
  meta.shape = {graph::SymExpr(2), graph::SymExpr(4), graph::SymExpr(8), graph::SymExpr(16)};
  const NodeId q = g.placeholder("q", graph::Value(meta));
  const auto arg = graph::Argument::node(q);
  const NodeId forward = g.call("aten._scaled_dot_product_flash_attention.default", {arg, arg, arg}, std::nullopt);
  const NodeId backward =
      g.call("aten._scaled_dot_product_flash_attention_backward.default", {arg, arg, arg, arg}, std::nullopt);
  const int64_t product = 2 * 4 * 8 * 8 * 16 * 2;
  EXPECT_EQ(count_flops(g, g[forward]), 2 * product);
  EXPECT_EQ(count_flops(g, g[backward]), 5 * product);
}

TEST(OpTable, PurityFollowsFromFlagsAndSchema) {
  EXPECT_TRUE(find_op("aten.mm.default")->is_pure());
  EXPECT_FALSE(find_op("aten.copy_.default")->is_pure());
  EXPECT_FALSE(find_op("aten.bernoulli.p")->is_pure());
  EXPECT_FALSE(find_op("_c10d_functional.wait_tensor.default")->is_pure());
  EXPECT_TRUE(find_op("operator.getitem")->is_pure());
  EXPECT_EQ(find_op("no.such.op"), nullptr);
}

TEST(OpTable, UnknownOperatorsGetSafeAnswers) {
  Graph g;
  g.ops["my.draw.default"] = {"my::draw(Tensor self) -> Tensor", {"nondeterministic_seeded"}, false, false};
  g.ops["my.write.default"] = {"my::write(Tensor(a!) self) -> ()", {}, true, false};
  g.ops["aten.new_pointwise.default"] = {"aten::new_pointwise(Tensor self) -> Tensor", {"pointwise"}, false, false};
  const auto described = [&](const std::string& target) { return describe(g, g[g.call(target, {}, std::nullopt)]); };
  EXPECT_TRUE(described("my.draw.default").draws);
  EXPECT_FALSE(described("my.draw.default").is_fusible());
  EXPECT_TRUE(described("my.write.default").is_mutable);
  EXPECT_FALSE(described("my.write.default").is_recomputable());
  EXPECT_TRUE(described("aten.new_pointwise.default").is_recomputable());
  EXPECT_FALSE(described("undeclared.op.default").is_pure()) << "nothing is known of it";
  EXPECT_FALSE(described("undeclared.op.default").known);
}

}  // namespace
}  // namespace sapwood::ops
