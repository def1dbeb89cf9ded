// The same nodes survive as in PyTorch's own run, for every graph of the corpus.

#include <gtest/gtest.h>

#include <set>

#include "graph/verify.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"
#include "unit/partition/corpus.h"

namespace sapwood::passes {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::NodeKind;

/// The configuration without any option, which merges common subexpressions; null if PyTorch failed on it.
nlohmann::json plain_min_cut(const std::string& model) {
  for (const nlohmann::json& decision : test::corpus_decisions(model))
    if (decision["config"]["partitioner"] == "min_cut" && decision["config"]["functorch"].empty() && decision["ok"])
      return decision;
  return nullptr;
}

/// Every call of the joint graph that stands in the recorded forward or backward. What the partition added has other
/// names.
std::set<std::string> recorded_calls(const nlohmann::json& decision, const Graph& joint) {
  std::set<std::string> calls;
  for (const char* part : {"forward", "backward"})
    for (const nlohmann::json& node : decision[part])
      if (node["op"] == "call_function" && joint.find(node["name"].get<std::string>()) != graph::kNoNode)
        calls.insert(node["name"]);
  return calls;
}

std::set<std::string> calls_of(const Graph& graph) {
  std::set<std::string> calls;
  for (const NodeId id : graph.order())
    if (graph[id].kind == NodeKind::kCallFunction) calls.insert(graph[id].name);
  return calls;
}

TEST(CommonSubexpressionCorpus, TheCallsThatSurviveAreThoseOfPytorch) {
  size_t compared = 0;
  size_t merged = 0;
  for (const std::string& model : test::corpus_models()) {
    SCOPED_TRACE(model);
    const nlohmann::json decision = plain_min_cut(model);
    if (decision.is_null()) continue;
    Graph graph = test::corpus_graph(model);
    const std::set<std::string> recorded = recorded_calls(decision, graph);
    remove_dead_nodes(graph);
    const size_t before = graph.size();
    merge_common_subexpressions(graph);
    merged += before - graph.size();
    ++compared;
    EXPECT_EQ(calls_of(graph), recorded);
    EXPECT_TRUE(graph::verify(graph).empty());
  }
  EXPECT_GE(compared, 25U) << "the corpus is missing";
  EXPECT_GT(merged, 100U) << "the corpus has nothing to merge";
}

}  // namespace
}  // namespace sapwood::passes
