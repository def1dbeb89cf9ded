#include "partition/conflict.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "partition/min_cut.h"
#include "partition/partition.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::arg;

/// A tuple that can't be saved, from an operator that mustn't be repeated, which the backward takes apart itself.
Graph unbounded(const std::string& tuple_name) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({4, 4})));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({4})));
  graph::TupleValue pair{{graph::Value(b.tensor({4})), graph::Value(b.tensor({4}))}};
  const NodeId sorted = g.call("aten.sort.default", {arg(x)}, graph::Value(pair), tuple_name);
  const NodeId first = g.call("operator.getitem", {arg(sorted), 0}, graph::Value(b.tensor({4})));
  const NodeId second = g.call("operator.getitem", {arg(sorted), 1}, graph::Value(b.tensor({4})), "second");
  g.meta(second).recompute = graph::CheckpointPolicy::kMustRecompute;
  const NodeId grad = g.call("aten.mul.Tensor", {arg(tangent), arg(second)}, graph::Value(b.tensor({4})));
  g.output({first, grad});
  g.num_forward_outputs = 1;
  return g;
}

// pytorch/pytorch#167708, #172734, #189723
TEST(Conflict, NamesTheNodesTheTwoRulesAndARemedy) {
  const auto conflict = find_conflict(unbounded("sorted"), {});
  ASSERT_TRUE(conflict);
  ASSERT_EQ(conflict->steps.size(), 2u);
  EXPECT_EQ(conflict->steps[0].node, "sorted");
  EXPECT_EQ(conflict->steps[0].rules, (std::vector<std::string>{"cannot recompute: not in recomputable allowlist",
                                                                "cannot be saved: non-tensor output"}));
  EXPECT_EQ(conflict->steps[1].node, "second");
  EXPECT_EQ(conflict->steps[1].rules.front(), "reads 'sorted'");
  EXPECT_EQ(conflict->path, "source -> sorted_in -> sorted_out -> second_in -> sink");
  const std::string text = conflict->text();
  for (const char* part : {"'sorted' cannot recompute", "'second' reads 'sorted'", "marked for recomputation",
                           "Path: source -> sorted_in", "Take back one of these marks"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Conflict, IsWhatTheErrorOfPartitionSays) {
  Graph g = unbounded("sorted");
  const std::string text = find_conflict(g, {})->text();
  try {
    partition(g, {});
    FAIL() << "there is no plan";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(error.message().find(text), std::string::npos) << error.message();
  }
}

TEST(Conflict, ThereIsNoneOnceAMarkIsTakenBack) {
  Graph g = unbounded("sorted");
  g.meta(g.find("second")).recompute = graph::CheckpointPolicy::kNone;
  EXPECT_FALSE(find_conflict(g, {}));
  EXPECT_EQ(partition(g, {}).saved.size(), 1u);
}

TEST(Conflict, ThePictureHasABoxPerStepAndAnArrowBetween) {
  const std::string svg = find_conflict(unbounded("sorted"), {})->svg();
  EXPECT_TRUE(svg.starts_with("<svg xmlns='http://www.w3.org/2000/svg'"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("rx='6'"), 2);
  EXPECT_EQ(count("<path "), 1);
  EXPECT_EQ(count(">sorted<"), 1);
  EXPECT_EQ(count(">second<"), 1);
}

TEST(Conflict, ThePictureIsWellFormedWhateverTheNames) {
  const std::string svg = find_conflict(unbounded("a<b&\"c"), {})->svg();
  EXPECT_NE(svg.find("a&lt;b&amp;&quot;c"), std::string::npos);
  EXPECT_EQ(svg.find("a<b"), std::string::npos);
}

}  // namespace
}  // namespace sapwood::partition
