// The JSON form loses nothing, in either direction.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "graph/text.h"
#include "unit/graph/corpus.h"
#include "unit/graph/full_graph.h"

namespace sapwood::graph {
namespace {

using nlohmann::json;

void expect_equal(const json& expected, const json& actual, const std::string& what) {
  if (expected == actual) return;
  const json difference = json::diff(expected, actual);
  ADD_FAILURE() << what << ": " << difference.size() << " differences, the first: " << difference.front().dump();
}

TEST(Json, EveryGraphOfTheCorpusComesBackEqual) {
  const auto paths = testing::corpus_graphs();
  ASSERT_EQ(paths.size(), 31U);
  for (const auto& path : paths) {
    const std::string text = testing::unpacked(path);
    expect_equal(json::parse(text), json::parse(print_json(parse_json(text))), path.parent_path().filename());
  }
}

TEST(Json, EveryKeyAndEveryKindOfValueIsCarried) {
  json expected = json::parse(testing::kFullGraph);
  expected["nodes"][1]["meta"].erase("tensor_meta");  // false is the same as absent
  const Graph graph = parse_json(testing::kFullGraph);
  expect_equal(expected, json::parse(print_json(graph)), "full graph");
}

TEST(Json, FieldsHaveTheirValues) {
  const Graph graph = parse_json(testing::kFullGraph);
  const Node& sin = graph[graph.find("sin")];
  EXPECT_EQ(sin.meta->recompute, CheckpointPolicy::kMustCpuOffload);
  EXPECT_EQ(sin.meta->region_memory_budget, 0.5);
  ASSERT_EQ(sin.meta->custom.size(), 1U);
  EXPECT_EQ(sin.meta->custom[0].first, "mine");
  EXPECT_EQ(sin.meta->flops, 123456789012);
  EXPECT_EQ(sin.meta->stack_trace, "f.py:1, in g, return \"x\\n\"\x01 // # \xC3\xA9");
  EXPECT_FALSE(graph[graph.find("odd name")].val.has_value());
  EXPECT_NE(graph[graph.find("nothing")].val->as<NoneValue>(), nullptr);
  const ArgumentList& args = graph[graph.find("odd name")].args;
  EXPECT_NE(args[4].as<int64_t>(), nullptr) << "3 is an int";
  EXPECT_NE(args[5].as<double>(), nullptr) << "3.0 is a float";
  EXPECT_TRUE(std::signbit(*args[6].as<double>()));
  const NodeId first = graph.find("primals_1");
  EXPECT_EQ(graph[first].users, (std::vector<NodeId>{graph.find("odd name"), graph.find("sin"), graph.find("alias")}));
}

TEST(Json, TheOrderOfKeysIsFree) {
  const json parsed = json::parse(testing::kFullGraph);  // sorts keys: attributes, ..., nodes, ..., symbols
  const std::string sorted = parsed.dump();
  ASSERT_LT(sorted.find("\"nodes\":"), sorted.find("\"symbols\":"));
  expect_equal(json::parse(print_json(parse_json(testing::kFullGraph))), json::parse(print_json(parse_json(sorted))),
               "nodes before symbols");
}

TEST(Json, EscapesAndSurrogatesAreRead) {
  const std::string text =
      R"({"format":"sapwood.graph/1","name":"a\u00e9\ud83d\ude00\/\t","producer":{"k\n":"v"},"num_fwd_outputs":0,)"
      R"("static_lifetime_input_indices":[],"symbols":{},"ops":{},"nodes":[],"subgraphs":{},"attributes":{}})";
  const Graph graph = parse_json(text);
  EXPECT_EQ(graph.name, "a\xC3\xA9\xF0\x9F\x98\x80/\t");
  EXPECT_EQ(graph.producer[0].first, "k\n");
  expect_equal(json::parse(text), json::parse(print_json(graph)), "escapes");
}

TEST(Json, TheSmallestGraphIsAGraph) {
  Graph graph;
  graph.name = "empty";
  const Graph back = parse_any("\n " + print_json(graph));
  EXPECT_EQ(back.name, "empty");
  EXPECT_EQ(back.size(), 0U);
}

TEST(Json, CompressedInputIsRead) {
  const std::string packed = read_file(testing::corpus_graph("mlp"));
  EXPECT_EQ(print_json(parse_any(packed)), print_json(parse_json(testing::unpacked(testing::corpus_graph("mlp")))));
}

}  // namespace
}  // namespace sapwood::graph
