#include <gtest/gtest.h>

#include <set>

#include "graph/verify.h"

namespace sapwood::graph {
namespace {

TensorMeta tensor(int64_t size, int32_t storage) {
  TensorMeta meta;
  meta.shape = {size};
  meta.stride = std::vector<SymExpr>{1};
  meta.offset = 0;
  meta.storage = storage;
  meta.storage_bytes = 4 * size;
  return meta;
}

Graph sample(const std::string& prefix, int32_t storage = 0, const Argument& scalar = 2) {
  Graph g;
  const NodeId x = g.placeholder(prefix + "x", tensor(4, storage));
  const NodeId a = g.call("aten.sin.default", {Argument::node(x)}, tensor(4, storage + 1), prefix + "a");
  const NodeId b = g.call("aten.mul.Scalar", {Argument::node(a), scalar}, tensor(4, storage + 2), prefix + "b");
  g.output({b});
  return g;
}

TEST(StructuralHash, IgnoresNamesSourcesIdsAndStorageNumbers) {
  Graph other = sample("other_", 17);
  other.name = "other";
  other.meta(other.find("other_a")).stack_trace = "file.cpp:12";
  EXPECT_EQ(structural_hash(sample("")), structural_hash(other));

  Graph with_gap = sample("");
  with_gap.set_insertion_point(with_gap.output());
  const NodeId extra = with_gap.call("aten.cos.default", {Argument::node(0)}, {});
  EXPECT_NE(structural_hash(sample("")), structural_hash(with_gap));
  with_gap.erase(extra);
  EXPECT_EQ(structural_hash(sample("")), structural_hash(with_gap));
}

TEST(StructuralHash, SeesEveryPartOfTheStructure) {
  std::set<uint64_t> hashes{structural_hash(sample(""))};
  size_t variants = 1;
  const auto differs = [&](const Graph& g) {
    hashes.insert(structural_hash(g));
    EXPECT_EQ(hashes.size(), ++variants);
  };
  differs(sample("", 0, 3));
  differs(sample("", 0, 2.0));
  differs(sample("", 0, true));
  Graph g = sample("");
  g.set_target(g.find("a"), "aten.cos.default");
  differs(g);
  g = sample("");
  g.set_kwargs(g.find("a"), {{"out", Argument()}});
  differs(g);
  g = sample("");
  g.set_val(g.find("a"), tensor(5, 1));
  differs(g);
  g = sample("");
  g.set_val(g.find("a"), tensor(4, 0));  // shares the storage of x
  differs(g);
  g = sample("");
  g.set_args(g.find("b"), {Argument::node(g.find("x")), 2});
  differs(g);
  g = sample("");
  g.num_forward_outputs = 1;
  differs(g);
  g = sample("");
  g.meta(g.find("b")).partitioner_tag = PartitionerTag::kBackward;
  differs(g);
}

TEST(StructuralHash, AttributesCountByContent) {
  const auto with_attribute = [](const std::string& name, double value) {
    Graph g;
    g.attributes[name] = {tensor(1, 0), ArgumentList{value}};
    g.output({g.get_attr("w", name)});
    return structural_hash(g);
  };
  EXPECT_EQ(with_attribute("a", 1.0), with_attribute("b", 1.0));
  EXPECT_NE(with_attribute("a", 1.0), with_attribute("a", 2.0));
}

// A fixed number: another process, machine or run has to find the same.
TEST(StructuralHash, IsTheSameInEveryProcess) { EXPECT_EQ(structural_hash(sample("")), 0x4c5c579ab3e4b061ULL); }

}  // namespace
}  // namespace sapwood::graph
