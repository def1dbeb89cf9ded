#include "partition/trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "unit/partition/scenarios.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using Json = nlohmann::json;

/// cos, then three times a product and a cos.
Graph chain() {
  test::Tape tape;
  NodeId x = tape.cos(tape.input(64, 64));
  for (int i = 0; i < 3; ++i) x = tape.cos(tape.mm(x, tape.input(64, 64)));
  return tape.joint({tape.sum(x)});
}

struct Traced {
  test::Split split;
  Json trace;
};

Traced traced(double budget) {
  Traced result{test::split(chain(), test::in_mode(Compatibility::kRepaired, budget)), {}};
  result.trace = Json::parse(trace_json(result.split.joint, result.split.decision));
  return result;
}

TEST(Trace, HasTheKeysOfPyTorchsArtifact) {
  const Json trace = traced(0.2).trace;
  const std::set<std::string> wanted = {"Joint Graph Size",
                                        "Joint Graph Edges",
                                        "Joint Graph Node Information",
                                        "Recomputable Banned Nodes Order",
                                        "Expected Runtime",
                                        "Knapsack Saved Nodes",
                                        "Knapsack Recomputed Nodes",
                                        "Absolute Memories",
                                        "Knapsack Input Memories",
                                        "Knapsack Input Runtimes",
                                        "Min Cut Solution Saved Values",
                                        "Memory Budget",
                                        "Min Activation Size (GB)",
                                        "Max Activation Size (GB)",
                                        "Saved Values Activation Size (GB)",
                                        "More Aggressive Saved Values Mem Ratio",
                                        "Aggressive Recomputation Saved Values Mem Ratio"};
  std::set<std::string> keys;
  for (const auto& [key, value] : trace.items()) keys.insert(key);
  EXPECT_EQ(keys, wanted);
}

TEST(Trace, DescribesEveryNodeAndEdge) {
  const auto [split, trace] = traced(0.2);
  EXPECT_EQ(trace["Joint Graph Size"], split.joint.size());
  size_t edges = 0;
  size_t index = 0;
  for (const NodeId id : split.joint.order()) {
    edges += split.joint.inputs(id).size();
    const Json& node = trace["Joint Graph Node Information"][split.joint[id].name];
    EXPECT_EQ(node["index"], index++);
    EXPECT_EQ(node["name"], split.joint[id].name);
    EXPECT_EQ(node["target"], split.joint[id].target);
    EXPECT_EQ(node["input_arguments"].size(), split.joint.inputs(id).size());
    EXPECT_TRUE(node["stack_trace"].is_string());
  }
  EXPECT_EQ(trace["Joint Graph Edges"]["Total"], edges);
  EXPECT_EQ(trace["Joint Graph Edges"]["Edges"].size(), edges);
  EXPECT_EQ(trace["Joint Graph Node Information"]["mm"]["shape"], "[64, 64]");
  EXPECT_EQ(trace["Joint Graph Node Information"]["output"]["shape"], "[]");
}

TEST(Trace, SaysWhatTheKnapsackWasAskedAndAnswered) {
  const auto [split, trace] = traced(0.2);
  ASSERT_TRUE(split.decision.knapsack);
  const size_t candidates = split.decision.knapsack->candidates.size();
  ASSERT_GT(candidates, 0u);
  for (const char* key :
       {"Recomputable Banned Nodes Order", "Absolute Memories", "Knapsack Input Memories", "Knapsack Input Runtimes"})
    EXPECT_EQ(trace[key].size(), candidates) << key;
  EXPECT_EQ(trace["Knapsack Saved Nodes"].size() + trace["Knapsack Recomputed Nodes"].size(), candidates);
  double runtime = 0;
  for (const Json& saved : trace["Knapsack Saved Nodes"])
    runtime += trace["Knapsack Input Runtimes"][saved.get<size_t>()].get<double>();
  EXPECT_EQ(trace["Expected Runtime"], runtime);
  for (size_t i = 0; i < candidates; ++i) {
    const std::string name = trace["Recomputable Banned Nodes Order"][i];
    const Json& node = trace["Joint Graph Node Information"][name];
    EXPECT_EQ(node["is_recomputable_candidate"], true);
    const Json& info = node["recomputable_candidate_info"];
    EXPECT_EQ(info["recomputable_node_idx"], i);
    EXPECT_EQ(info["memory"], 64 * 64 * 4);
    EXPECT_NE(info["is_saved"], info["is_recomputed"]);
  }
}

TEST(Trace, SaysWhatWasSaved) {
  const auto [split, trace] = traced(0.2);
  EXPECT_EQ(trace["Memory Budget"], split.decision.budget);
  EXPECT_EQ(trace["Min Cut Solution Saved Values"].size(), split.decision.saved.size());
  EXPECT_DOUBLE_EQ(trace["Min Activation Size (GB)"], 4 * 64 * 64 * 4 / 1e9);  // four inputs
  EXPECT_LE(trace["Saved Values Activation Size (GB)"], trace["Max Activation Size (GB)"]);
}

TEST(Trace, WithoutABudgetTheKnapsacksListsAreEmpty) {
  const Json trace = traced(1).trace;
  EXPECT_TRUE(trace["Recomputable Banned Nodes Order"].empty());
  EXPECT_TRUE(trace["Knapsack Saved Nodes"].empty());
  for (const auto& [name, node] : trace["Joint Graph Node Information"].items())
    EXPECT_EQ(node["is_recomputable_candidate"], false) << name;
}

TEST(Trace, TheReportCountsWhatIsKeptAndRepeated) {
  const test::Split split = traced(0).split;
  const std::string report = debug_report(split.joint, split.plan);
  EXPECT_TRUE(report.starts_with("0 bytes kept between forward and backward")) << report;
  EXPECT_NE(report.find(std::to_string(split.plan.recomputed.size()) + " calls run in both parts"), std::string::npos);
  EXPECT_NE(report.find("  3  aten.cos\n"), std::string::npos) << report;
}

TEST(Trace, EverySolvedCutIsALine) {
  const test::Split split = traced(0.2).split;
  const std::string text = describe_solves(split.joint, split.decision);
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ssize(split.decision.solves) + 1) << text;
  EXPECT_TRUE(
      text.starts_with("cut 1 (list of cheap operators, materialized, far apart, long chains, reductions; 0 released"))
      << text;
  EXPECT_NE(text.find("knapsack: "), std::string::npos);
}

}  // namespace
}  // namespace sapwood::partition
