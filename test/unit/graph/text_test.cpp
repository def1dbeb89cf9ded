// The readable form loses nothing, leaves out what follows, and can be edited by a person.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "unit/graph/corpus.h"
#include "unit/graph/full_graph.h"

namespace sapwood::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Text, EveryGraphOfTheCorpusComesBackEqual) {
  const auto paths = testing::corpus_graphs();
  ASSERT_EQ(paths.size(), 31U);
  for (const auto& path : paths) {
    const Graph graph = parse_json(testing::unpacked(path));
    const std::string text = print_text(graph);
    const Graph back = parse_text(text);
    EXPECT_EQ(print_text(back), text) << path;
    EXPECT_EQ(print_json(back), print_json(graph)) << path;
  }
}

TEST(Text, EveryFieldAndEveryKindOfValueIsCarried) {
  const Graph graph = parse_json(testing::kFullGraph);
  const std::string text = print_text(graph);
  const Graph back = parse_text(text);
  EXPECT_EQ(print_text(back), text);
  EXPECT_EQ(print_json(back), print_json(graph)) << text;
}

TEST(Text, WhatFollowsIsLeftOut) {
  const std::string text = print_text(parse_any(read_file(testing::corpus_graph("mlp"))));
  EXPECT_THAT(text, HasSubstr("  %primals_1 : float32[256, 64] = placeholder  # partitioner_tag=is_forward "
                              "desc=\"PlainAOTInput(idx=0)\"\n"));
  EXPECT_THAT(text, HasSubstr("  %t : float32[64, 256]{1, 64}<alias=%primals_1> = aten.t.default(%primals_1)  # "));
  EXPECT_THAT(text, Not(HasSubstr("storage=")));
  EXPECT_THAT(text, Not(HasSubstr("storage_bytes=")));
  EXPECT_THAT(text, Not(HasSubstr("tensor_meta")));
  EXPECT_THAT(text, Not(HasSubstr("device=cpu")));
}

TEST(Text, MetadataAndDeclarationsCanBeLeftOut) {
  const Graph graph = parse_any(read_file(testing::corpus_graph("mlp")));
  const std::string text = print_text(graph, {.metadata = false, .declarations = false});
  EXPECT_THAT(text, Not(HasSubstr("#")));
  EXPECT_THAT(text, Not(HasSubstr("aten::")));
  EXPECT_EQ(parse_text(text).size(), graph.size());
}

TEST(Text, APersonMayEdit) {
  const Graph graph = parse_text(R"(
    // a comment before, and more below
    graph mine{symbol s0=4
      %a:float32[s0,3]=placeholder // no metadata
      %b : float32[ 4 ,
        3, ] = placeholder
      %c = aten.add.Tensor ( %a , %b,
                             alpha = 2 , )   # seq_nr = 7
                                             impure
      %d : (float32[2], None) = my.op.default([1, 2.0, -inf,], (3,), {"k": None}, "a // b")
      return(%c,None) })");
  EXPECT_EQ(graph.size(), 5U);
  const Node& c = graph[graph.find("c")];
  EXPECT_FALSE(c.val.has_value());
  EXPECT_EQ(c.meta->seq_nr, 7);
  EXPECT_TRUE(c.meta->impure);
  ASSERT_EQ(c.kwargs.size(), 1U);
  EXPECT_EQ(*c.kwargs[0].second.as<int64_t>(), 2);
  const TensorMeta* a = graph[graph.find("a")].tensor();
  EXPECT_EQ(a->stride->at(0), SymExpr(3));
  EXPECT_EQ(a->storage_bytes->str(), "12*s0");
  EXPECT_EQ(a->storage, 0);
  EXPECT_EQ(graph[graph.find("b")].tensor()->storage, 1) << "a tensor that names no storage has its own";
  EXPECT_EQ(*graph[graph.find("d")].args[3].as<std::string>(), "a // b");
  EXPECT_EQ(graph.output_values(), (std::vector<NodeId>{graph.find("c"), kNoNode}));
  EXPECT_EQ(print_text(parse_text(print_text(graph))), print_text(graph));
}

TEST(Text, IntsAndFloatsStayApart) {
  const Graph graph =
      parse_text("graph g { %x = f(3, 3.0, 1e20, 1e-7, -0.0, nan, inf, 9223372036854775807) return () }");
  const std::string text = print_text(graph);
  EXPECT_THAT(text, HasSubstr("f(3, 3.0, 1e+20, 1e-07, -0.0, nan, inf, 9223372036854775807)"));
}

TEST(Text, ViewsOfTupleElementsShareTheirStorage) {
  const Graph graph = parse_text(R"(graph g {
    %two : (float32[4], float32[2]) = my.op.default()
    %first : float32[4] = operator.getitem(%two, 0)
    %view : float32[2]<alias=%first, offset=2> = my.view.default(%first)
    %far : float32[1]<storage=9> = my.op.default()
    %next : float32[1] = my.op.default()
    return (%view)
  })");
  const auto storage = [&](const char* name) { return graph[graph.find(name)].tensor()->storage; };
  EXPECT_EQ(storage("first"), 0);
  EXPECT_EQ(storage("view"), 0);
  EXPECT_EQ(*graph[graph.find("view")].tensor()->storage_bytes, SymExpr(16))
      << "the bytes of the tensor that has the storage";
  EXPECT_EQ(storage("far"), 9);
  EXPECT_EQ(storage("next"), 10);
}

TEST(Text, NestedGraphsShareSymbolsAndStorageNumbers) {
  const Graph graph = parse_text(R"(graph g {
    symbol s0 = 2
    subgraph body { %x : float32[s0] = placeholder return (%x) }
    %y : float32[s0] = placeholder
    %b = get_attr @body
    return (%y)
  })");
  EXPECT_EQ(graph.subgraphs.at("body")->size(), 2U);
  EXPECT_EQ(graph[graph.find("y")].tensor()->storage, 1);
  EXPECT_EQ(graph[graph.find("b")].target, "body");
}

}  // namespace
}  // namespace sapwood::graph
