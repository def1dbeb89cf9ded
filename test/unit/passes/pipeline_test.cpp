#include "passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace sapwood::passes {
namespace {

using graph::Argument;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// x, a dead sin, and two equal cos that are added.
Graph sample() {
  Graph g;
  const NodeId x = g.placeholder("x", {});
  g.call("aten.sin.default", {Argument::node(x)}, {});
  const NodeId a = g.call("aten.cos.default", {Argument::node(x)}, {});
  const NodeId b = g.call("aten.cos.default", {Argument::node(x)}, {});
  g.output({g.call("aten.add.Tensor", {Argument::node(a), Argument::node(b)}, {})});
  return g;
}

std::vector<std::string> names(const std::vector<PassRecord>& records) {
  std::vector<std::string> result;
  for (const PassRecord& record : records) result.push_back(record.name + "/" + std::to_string(record.round));
  return result;
}

TEST(Pipeline, RunsEveryPassInOrderAndRecordsWhatItDid) {
  Graph g = sample();
  const std::vector<PassRecord> records = run_passes(g, standard_passes(), {.verify = true});
  EXPECT_THAT(names(records), ElementsAre("dead_code/0", "common_subexpression/0"));
  EXPECT_TRUE(records[0].changed);
  EXPECT_EQ(records[0].nodes_before, 6U);
  EXPECT_EQ(records[0].nodes_after, 5U);
  EXPECT_EQ(records[1].nodes_after, 4U);
  EXPECT_GT(records[0].seconds, 0);
  EXPECT_EQ(g.size(), 4U);
}

TEST(Pipeline, RepeatsUntilNothingChanges) {
  Graph g = sample();
  EXPECT_EQ(run_passes(g, standard_passes(), {.rounds = 10}).size(), 4U) << "the second round finds nothing to do";
  EXPECT_TRUE(run_passes(g, standard_passes(), {.rounds = 0}).empty());
}

TEST(Pipeline, LeavesDisabledPassesOut) {
  Graph g = sample();
  EXPECT_THAT(names(run_passes(g, standard_passes(), {.disabled = {"dead_code"}})),
              ElementsAre("common_subexpression/0"));
  EXPECT_NE(g.find("sin"), graph::kNoNode);
}

TEST(Pipeline, RefusesUnknownNamesAndNegativeRounds) {
  Graph g = sample();
  try {
    run_passes(g, standard_passes(), {.disabled = {"ded_code"}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_THAT(error.message(), HasSubstr("'ded_code': there is none of that name; the passes are dead_code, "));
  }
  EXPECT_THROW(run_passes(g, standard_passes(), {.rounds = -1}), Error);
}

TEST(Pipeline, DumpsAfterEachPass) {
  Graph g = sample();
  std::vector<std::string> seen;
  PipelineOptions options;
  options.dump = [&](std::string_view pass, int round, const Graph& graph) {
    seen.push_back(std::string(pass) + " " + std::to_string(round) + " " + std::to_string(graph.size()));
  };
  run_passes(g, standard_passes(), options);
  EXPECT_THAT(seen, ElementsAre("dead_code 0 5", "common_subexpression 0 4"));
}

TEST(Pipeline, NamesThePassThatBreaksTheGraph) {
  Graph g = sample();
  const Pass breaking[] = {{"harmless", [](Graph&) { return false; }},
                           {"breaking", [](Graph& graph) {
                              const_cast<Node&>(graph[graph.first()]).users.clear();
                              return true;
                            }}};
  try {
    run_passes(g, breaking, {.verify = true});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.stage(), "after pass breaking");
    EXPECT_THAT(error.message(), HasSubstr("users-mirror-arguments"));
  }
}

}  // namespace
}  // namespace sapwood::passes
