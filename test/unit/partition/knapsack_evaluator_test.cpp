#include "partition/knapsack_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sapwood/error.h"

namespace sapwood::partition {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Edge = std::pair<std::string, std::string>;

/// PyTorch's fixture: five nodes in a chain, of which three are candidates, and an edge from the first to the output.
GraphInfoInput fixture() {
  GraphInfoInput input;
  input.graph.nodes = {"node1", "node2", "node3", "node4", "node5", "output"};
  input.graph.edges = {{"node1", "node2"}, {"node2", "node3"},  {"node3", "node4"},
                       {"node4", "node5"}, {"node5", "output"}, {"node1", "output"}};
  input.candidates = {"node1", "node2", "node5"};
  return input;
}

GraphInfo with_recorded(std::vector<double> memories, std::vector<double> runtimes) {
  GraphInfoInput input = fixture();
  input.recorded_memories = std::move(memories);
  input.recorded_runtimes = std::move(runtimes);
  return GraphInfo(std::move(input));
}

GraphInfo of_ones() {
  GraphInfoInput input = fixture();
  input.memories.emplace();
  input.runtimes.emplace();
  for (const std::string& name : input.graph.nodes) {
    input.memories->emplace(name, 1);
    input.runtimes->emplace(name, 1);
  }
  return GraphInfo(std::move(input));
}

TEST(GraphInfo, SumsOverTheCandidates) {
  const GraphInfo info = of_ones();
  EXPECT_EQ(info.total_memory(), 3);
  EXPECT_EQ(info.total_runtime(), 3);
  EXPECT_THAT(info.knapsack_memory(), ElementsAre(1, 1, 1));
}

TEST(GraphInfo, RecordedListsWin) {
  GraphInfoInput input = fixture();
  input.memories.emplace();
  input.runtimes.emplace();
  for (const std::string& name : input.graph.nodes) {
    input.memories->emplace(name, 1);
    input.runtimes->emplace(name, 1);
  }
  input.recorded_memories = {4, 5, 6};
  EXPECT_THAT(GraphInfo(input).knapsack_memory(), ElementsAre(4, 5, 6));
  EXPECT_THAT(GraphInfo(input).knapsack_runtime(), ElementsAre(1, 1, 1));
}

TEST(GraphInfo, NeedsMemoriesAndRuntimes) {
  GraphInfoInput input = fixture();
  input.recorded_memories = {1, 1, 1};
  EXPECT_THROW(GraphInfo{input}, Error);
  input.recorded_runtimes = {1, 1};
  EXPECT_THROW(GraphInfo{input}, Error);
}

TEST(GraphInfo, JoinsCandidatesDirectlyAndThroughOthers) {
  const GraphInfo info = of_ones();
  EXPECT_THAT(info.candidate_graph().edges, ElementsAre(Edge{"node1", "node2"}));
  EXPECT_THAT(info.candidate_graph_with_context().edges,
              UnorderedElementsAre(Edge{"node1", "node2"}, Edge{"node2", "node5"}))
      << "node1 -> node5 is implied";
  EXPECT_EQ(info.full_graph().nodes.size(), 5U) << "without the output";
}

TEST(GraphInfo, ThePseudoGraphHasTheNamesAndTheEdges) {
  const graph::Graph graph = of_ones().pseudo_graph();
  EXPECT_EQ(graph.size(), 6U);
  EXPECT_EQ(graph[graph.find("node1")].kind, graph::NodeKind::kPlaceholder);
  EXPECT_THAT(graph.inputs(graph.find("output")), ElementsAre(graph.find("node5"), graph.find("node1")));
  GraphInfoInput broken = fixture();
  broken.graph.edges.emplace_back("node9", "node1");
  broken.recorded_memories = broken.recorded_runtimes = {1, 1, 1};
  EXPECT_THROW(GraphInfo(broken).pseudo_graph(), Error);
}

class Evaluator : public testing::Test {
 protected:
  GraphInfo info = with_recorded({.1, .2, .2}, {100, 50, 51});
  KnapsackEvaluator evaluator{info};
  KnapsackChoice first_kept{100, {0}, {1, 2}};
};

TEST_F(Evaluator, WeighsAChoice) {
  const Evaluation result = evaluator.evaluate(first_kept);
  EXPECT_DOUBLE_EQ(result.peak_memory, .1);
  EXPECT_DOUBLE_EQ(result.recomputation_runtime, 101);
  EXPECT_DOUBLE_EQ(result.non_ac_peak_memory, .5);
  EXPECT_DOUBLE_EQ(result.theoretical_max_runtime, 201);
  EXPECT_DOUBLE_EQ(evaluator.evaluate(first_kept, true).peak_memory, .5);
}

TEST_F(Evaluator, RefusesAChoiceThatLeavesAValueOut) {
  EXPECT_THROW(evaluator.evaluate({100, {0}, {1}}), Error);
  EXPECT_THROW(evaluator.evaluate({100, {0, 1}, {1, 2}}), Error);
}

TEST_F(Evaluator, PlaysTheBackward) {
  const std::vector<MemoryStep> steps = evaluator.simulate_backward(first_kept);
  const std::vector<double> memory = {.1, .3, .5, .3, .1, 0};
  ASSERT_EQ(steps.size(), memory.size());
  for (size_t i = 0; i < memory.size(); ++i) EXPECT_NEAR(steps[i].memory, memory[i], 1e-12) << steps[i].what;
  EXPECT_EQ(steps[1].what, "recompute node5");
  EXPECT_EQ(steps[2].what, "recompute node2 for node5");
  EXPECT_EQ(steps[5].what, "drop node1");
}

TEST_F(Evaluator, CountsAKeptValueOnce) {
  // Recomputing node2 reads node1, which is kept: PyTorch counts it a second time.
  const KnapsackChoice choice{0, {0, 2}, {1}};
  EXPECT_NEAR(evaluator.evaluate(choice, true).peak_memory, .3, 1e-12);
  const KnapsackEvaluator upstream(info, Compatibility::kTorch213);
  EXPECT_NEAR(upstream.evaluate(choice, true).peak_memory, .4, 1e-12);
}

TEST_F(Evaluator, SweepsBudgets) {
  const std::vector<Evaluation> points = evaluator.sweep(torch_dp_knapsack, {.1, .2, .3});
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(points[0].peak_memory, .1, 1e-12);
  EXPECT_NEAR(points[0].recomputation_runtime, 101, 1e-9);
  EXPECT_NEAR(points[2].peak_fraction(), .3 / .5, 1e-12);
  EXPECT_NEAR(points[2].runtime_fraction(), 50.0 / 201, 1e-12);
  EXPECT_EQ(points[1].memory_budget, .2);
}

TEST_F(Evaluator, FindsTheKnee) {
  // PyTorch's test answers from this table; at every other budget all is kept.
  const KnapsackSolver table = [](const KnapsackProblem& problem) -> KnapsackChoice {
    if (problem.max_memory == .1 || problem.max_memory == .2) return {101, {0}, {1, 2}};
    if (problem.max_memory == .3 || problem.max_memory == .4) return {50, {0, 2}, {1}};
    return {0, {0, 1, 2}, {}};
  };
  const std::vector<std::pair<double, double>> expected = {{.1, .1}, {.2, .1}, {.3, .3}, {.4, .4}, {.5, .4}};
  for (const auto& [highest, knee] : expected)
    EXPECT_EQ(evaluator.knee(table, highest, .1, 5), knee) << "highest " << highest;
  EXPECT_EQ(evaluator.knee(table, 1, .1, 10), .4);
}

TEST_F(Evaluator, WithoutACurveTheKneeIsTheHighestBudget) {
  const KnapsackSolver all = [](const KnapsackProblem&) -> KnapsackChoice { return {0, {0, 1, 2}, {}}; };
  EXPECT_EQ(evaluator.knee(all, .5, .1, 5), .5) << "older versions of PyTorch divide by zero here";
}

}  // namespace
}  // namespace sapwood::partition
