#include "partition/pareto.h"

#include <gtest/gtest.h>

#include "partition/partition.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;

Graph chain(int products) {
  test::Tape tape;
  NodeId x = tape.cos(tape.input(64, 64));
  for (int i = 0; i < products; ++i) x = tape.cos(tape.mm(x, tape.input(64, 64)));
  return tape.joint({tape.sum(x)});
}

TEST(Pareto, GoesFromTheInputsToTheFastestCut) {
  const auto points = pareto_sweep(chain(4), {});
  ASSERT_GE(points.size(), 5u);
  EXPECT_EQ(points.front().budget, 0);
  EXPECT_EQ(points.front().saved_bytes, 0);
  EXPECT_EQ(points.back().budget, 1);
  EXPECT_GT(points.back().saved_bytes, 0);
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_LT(points[i - 1].budget, points[i].budget);
    EXPECT_LE(points[i - 1].saved_bytes, points[i].saved_bytes) << points[i].budget;
    EXPECT_GE(points[i - 1].recompute_runtime, points[i].recompute_runtime) << points[i].budget;
  }
}

TEST(Pareto, EachPointIsWhatItsBudgetGives) {
  for (const ParetoPoint& point : pareto_sweep(chain(3), {})) {
    Graph joint = chain(3);
    PartitionOptions options;
    options.activation_memory_budget = point.budget;
    EXPECT_EQ(partition(joint, options).saved_bytes(), point.saved_bytes) << point.budget;
  }
}

TEST(Pareto, JumpsAreFoundToTheStep) {
  const auto points = pareto_sweep(chain(4), {});
  for (size_t i = 1; i < points.size(); ++i)
    if (points[i - 1].saved_bytes != points[i].saved_bytes)
      EXPECT_LT(points[i].budget - points[i - 1].budget, kParetoStep) << points[i].budget;
}

TEST(Pareto, NeighboursWithOnePlanAreTwoPoints) {
  test::Tape tape;
  const auto points = pareto_sweep(tape.joint({tape.cos(tape.input(8, 8))}), {});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].saved_bytes, points[1].saved_bytes);
}

TEST(Pareto, ThePictureShowsEveryStepOfTheBudget) {
  const auto points = pareto_sweep(chain(3), {});
  const std::string svg = pareto_svg(points, "three <products>", Estimator::kFlops);
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(svg.find("<products>"), std::string::npos);
  EXPECT_EQ(svg, pareto_svg(points, "three <products>", Estimator::kFlops));
}

}  // namespace
}  // namespace sapwood::partition
