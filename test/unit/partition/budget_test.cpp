// The memory budget, on the programs of PyTorch's own tests (test_ac.py). One unit of memory is a 512 x 512 float32
// matrix, one unit of work the product of two such.

#include "partition/budget.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "ops/flops.h"
#include "partition/partition.h"
#include "sapwood/error.h"
#include "unit/partition/tape.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::Tape;

constexpr int64_t kUnit = 512;
constexpr double kUnitBytes = 1 << 20;
constexpr double kUnitFlops = 2.0 * kUnit * kUnit * kUnit;

struct Cost {
  double memory = 0;  ///< saved, inputs apart
  double flops = 0;   ///< of the backward
};

class Budget : public testing::TestWithParam<Compatibility> {
 protected:
  PartitionOptions options(double budget) const {
    PartitionOptions options;
    options.compatibility = GetParam();
    options.activation_memory_budget = budget;
    return options;
  }

  Cost cost(Graph joint, const PartitionOptions& options) const {
    const Plan plan = partition(joint, options);
    const ForwardBackward parts = extract(joint, plan);
    Cost cost;
    cost.memory = static_cast<double>(plan.saved_bytes()) / kUnitBytes;
    for (const NodeId id : parts.backward.order())
      cost.flops += static_cast<double>(ops::count_flops(parts.backward, parts.backward[id]).value_or(0)) / kUnitFlops;
    return cost;
  }
  Cost cost(const Graph& joint, double budget) const { return cost(joint, options(budget)); }
};

INSTANTIATE_TEST_SUITE_P(Modes, Budget, testing::Values(Compatibility::kRepaired, Compatibility::kTorch213),
                         [](const auto& info) {
                           return std::string(info.param == Compatibility::kRepaired ? "Repaired" : "Torch213");
                         });

Graph cos_then_product() {
  Tape tape;
  const NodeId x = tape.input(kUnit, kUnit);
  const NodeId w = tape.input(kUnit, kUnit);
  return tape.joint({tape.sum(tape.mm(tape.cos(x), w))});
}

Graph even_chain() {
  Tape tape;
  NodeId x = tape.cos(tape.input(kUnit, kUnit));
  for (int i = 0; i < 5; ++i) x = tape.cos(tape.mm(x, tape.input(kUnit, kUnit)));
  return tape.joint({tape.sum(x)});
}

/// Independent products of one matrix with others of these widths.
Graph products_of_widths(const std::vector<int64_t>& widths) {
  Tape tape;
  const NodeId x = tape.input(kUnit, kUnit);
  std::vector<NodeId> sums;
  for (const int64_t width : widths) sums.push_back(tape.sum(tape.cos(tape.mm(x, tape.input(kUnit, width * kUnit)))));
  return tape.joint(sums);
}

/// For each pair (B, O) a product of a B x B with a B x O matrix.
Graph products_of_pairs(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  Tape tape;
  std::vector<NodeId> sums;
  for (const auto& [b, o] : pairs) {
    const NodeId x = tape.input(b * kUnit, b * kUnit);
    sums.push_back(tape.sum(tape.cos(tape.mm(x, tape.input(b * kUnit, o * kUnit)))));
  }
  return tape.joint(sums);
}

TEST_P(Budget, WhatIsFreeToRecomputeIsGivenUpFirst) {
  const Graph joint = cos_then_product();
  EXPECT_EQ(cost(joint, 1).memory, 1);
  EXPECT_EQ(cost(joint, 1).flops, 2);
  EXPECT_EQ(cost(joint, .5).memory, 0);
  EXPECT_EQ(cost(joint, .5).flops, 2);
}

TEST_P(Budget, AnEvenChainGivesUpOneProductAfterTheOther) {
  const Graph joint = even_chain();
  ASSERT_EQ(cost(joint, 1).flops, 10);
  ASSERT_EQ(cost(joint, 1).memory, 10);
  for (int k = 0; k <= 5; ++k) {
    SCOPED_TRACE("budget " + std::to_string(k) + "/10");
    EXPECT_EQ(cost(joint, k / 10.0).memory, k);
    EXPECT_EQ(cost(joint, k / 10.0).flops, 10 + (5 - k));
  }
  for (int k = 6; k < 10; ++k) {
    SCOPED_TRACE("budget " + std::to_string(k) + "/10");
    EXPECT_EQ(cost(joint, k / 10.0).memory, 5);
    EXPECT_EQ(cost(joint, k / 10.0).flops, 10);
  }
}

TEST_P(Budget, UnevenProductsFillTheBudgetExactly) {
  const Graph twenty = products_of_widths({11, 3, 4, 2});
  for (const int v : {18, 17, 16, 15, 14, 13, 11, 7, 6, 5}) EXPECT_EQ(cost(twenty, v / 20.0).memory, v);
  const Graph fifty = products_of_widths({3, 5, 11, 17, 14});
  for (const int v : {42, 30, 19, 8, 3}) EXPECT_EQ(cost(fifty, v / 50.0).memory, v);
}

TEST_P(Budget, SubsetSumsOfRandomWidthsAreHitExactly) {
  std::mt19937 random(0);
  std::vector<int64_t> widths;
  for (int i = 0; i < 10; ++i) widths.push_back(static_cast<int64_t>(1 + random() % 50));
  const int64_t total = std::accumulate(widths.begin(), widths.end(), int64_t{0});
  const Graph joint = products_of_widths(widths);
  for (int i = 0; i < 10; ++i) {
    int64_t subset = 0;
    for (const int64_t width : widths) subset += random() % 2 ? width : 0;
    EXPECT_EQ(cost(joint, static_cast<double>(subset) / static_cast<double>(total)).memory, subset);
  }
}

TEST_P(Budget, TheCheaperOfTwoIsRecomputed) {
  const Graph joint = products_of_pairs({{1, 4}, {2, 2}});
  EXPECT_EQ(cost(joint, 1).memory, 8);
  EXPECT_EQ(cost(joint, 1).flops, 24);
  EXPECT_EQ(cost(joint, .5).memory, 4);
  EXPECT_EQ(cost(joint, .5).flops, 28) << "the product that costs 4 is dropped, the one of 8 kept";
}

TEST_P(Budget, WorkCountsMoreThanFillingTheMemory) {
  const Graph joint = products_of_pairs({{4, 4}, {6, 2}, {2, 6}});
  EXPECT_EQ(cost(joint, 1).memory, 40);
  EXPECT_EQ(cost(joint, 1).flops, 320);
  EXPECT_EQ(cost(joint, 28 / 40.0).memory, 28);
  EXPECT_EQ(cost(joint, 28 / 40.0).flops, 320 + 24);
  EXPECT_EQ(cost(joint, 16 / 40.0).memory, 12) << "72 of work in 12 of memory, not 64 in 16";
  EXPECT_EQ(cost(joint, 16 / 40.0).flops, 320 + 88);
}

TEST_P(Budget, AMeasuredRuntimeDecidesAsWell) {
  PartitionOptions profile = options(.2);
  profile.activation_memory_budget_runtime_estimator = Estimator::kProfile;
  profile.runtime_of = [](const Graph& graph, NodeId id) { return graph[id].is_call("aten.mm.default") ? 3.0 : 0.01; };
  EXPECT_EQ(cost(even_chain(), profile).memory, 2);
  EXPECT_EQ(cost(even_chain(), profile).flops, 13);
}

TEST_P(Budget, CheckpointedRegionsKeepTheirBoundaryUnderATinyBudget) {
  const auto blocks = [] {
    Tape tape;
    NodeId x = tape.input(64, 1024);
    std::vector<NodeId> weights;
    for (int i = 0; i < 4; ++i) weights.push_back(tape.input(1024, 1024));
    for (int64_t region = 1; region <= 2; ++region) {
      tape.checkpoint(region);
      x = tape.cos(tape.mm(x, weights[static_cast<size_t>(region) * 2 - 2]));
      x = tape.cos(tape.mm(x, weights[static_cast<size_t>(region) * 2 - 1]));
    }
    tape.checkpoint(0);
    return tape.joint({tape.sum(x)});
  };
  const Cost whole = cost(blocks(), 1);
  EXPECT_EQ(whole.memory, 64.0 * 1024 * 4 / kUnitBytes) << "the result of the first region";
  EXPECT_EQ(cost(blocks(), .01).memory, whole.memory);
  EXPECT_EQ(cost(blocks(), .01).flops, whole.flops);
}

TEST_P(Budget, EverySolverStaysWithinTheBudgetOrItsOwnRounding) {
  const Graph joint = products_of_widths({11, 3, 4, 2});
  for (const Solver solver : {Solver::kGreedy, Solver::kIlp, Solver::kDp, Solver::kHirschberg, Solver::kDynamicDp}) {
    PartitionOptions with = options(.5);
    with.activation_memory_budget_solver = solver;
    EXPECT_LE(cost(joint, with).memory, 10);
  }
}

TEST_P(Budget, AUsersSolverGetsMemoriesRuntimesAndNodes) {
  PartitionOptions custom = options(.5);
  custom.activation_memory_budget_solver = Solver::kCustom;
  custom.custom_solver = [](const KnapsackProblem& problem, const Graph& joint, const std::vector<NodeId>& nodes) {
    KnapsackChoice choice;
    for (size_t i = 0; i < problem.size(); ++i) {
      EXPECT_TRUE(joint[nodes[i]].is_call("aten.mm.default"));
      EXPECT_GT(problem.runtime[i], 0);
      (problem.memory[i] > .5 ? choice.saved : choice.dropped).push_back(static_cast<int32_t>(i));
    }
    return choice;
  };
  EXPECT_EQ(cost(products_of_widths({11, 3, 4, 2}), custom).memory, 11) << "the user's word, also over the budget";
}

TEST(BudgetInBytes, IsKept) {
  const Graph joint = products_of_widths({11, 3, 4, 2});
  for (const int64_t units : {0, 2, 5, 9, 13, 20, 100}) {
    PartitionOptions options;
    options.activation_memory_bytes = units << 20;
    Graph copy = joint;
    const int64_t saved = partition(copy, options).saved_bytes();
    EXPECT_LE(saved, units << 20);
    EXPECT_GE(saved, (std::min<int64_t>(units, 20) - 1) << 20) << "and used";
  }
}

TEST(BudgetOfThePeak, ASmallerLimitNeverHasAHigherPeakAndRepeatsNoLess) {
  // A residual chain: dropping one value means running everything before it again.
  Tape tape;
  NodeId x = tape.input(kUnit, kUnit);
  for (int i = 0; i < 8; ++i) x = tape.add(x, tape.cos(tape.mm(x, tape.input(kUnit, kUnit))));
  const Graph joint = tape.joint({tape.sum(x)});
  int64_t last_peak = 0;
  double last_flops = std::numeric_limits<double>::infinity();
  for (int64_t units = 2; units <= 40; ++units) {
    PartitionOptions options;
    options.activation_memory_peak_bytes = units << 20;
    Graph copy = joint;
    const Plan plan = partition(copy, options);
    EXPECT_EQ(plan.budget_met, plan.peak_bytes <= units << 20);
    EXPECT_GE(plan.peak_bytes, last_peak) << units;
    double flops = 0;
    for (const RecomputedValue& value : plan.recomputed)
      flops += static_cast<double>(ops::count_flops(copy, copy[value.node]).value_or(0));
    EXPECT_LE(flops, last_flops) << units;
    last_peak = plan.peak_bytes;
    last_flops = flops;
  }
}

TEST(BudgetOptions, WrongOnesSayWhatToChange) {
  const auto message = [](auto&& change) -> std::string {
    Graph joint = cos_then_product();
    PartitionOptions options;
    try {
      change(options);
      partition(joint, options);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  for (const double budget : {-1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    const std::string text = message([&](PartitionOptions& o) { o.activation_memory_budget = budget; });
    EXPECT_NE(text.find("it is a fraction from 0 (save the inputs only) to 1"), std::string::npos) << text;
  }
  const std::string solver = message([](PartitionOptions& o) { set_option(o, *find_option("solver"), "dq"); });
  EXPECT_NE(solver.find("isn't one of greedy, ilp, dp,"), std::string::npos) << solver;
  const std::string custom = message([](PartitionOptions& o) { o.activation_memory_budget_solver = Solver::kCustom; });
  EXPECT_NE(custom.find("needs a function custom_solver"), std::string::npos) << custom;
}

}  // namespace
}  // namespace sapwood::partition
