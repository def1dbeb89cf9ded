#include "partition/knapsack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "sapwood/error.h"

namespace sapwood::partition {
namespace {

using Indices = std::vector<int32_t>;
using Solver = KnapsackChoice (*)(const KnapsackProblem&);

struct Case {
  KnapsackProblem problem;
  double runtime;
  Indices saved;
};

/// PyTorch's own table (test_ac_knapsack.py): every solver that looks for the best choice must fill it.
std::vector<Case> upstream_table() {
  return {
      {{{2, 3, 2, 4, 1}, {1, 2, 1, 3, 2}, 5}, 5, {3, 4}},
      {{{1, 1, 1}, {1, 2, 3}, 3}, 6, {0, 1, 2}},
      {{{10, 20, 30}, {1, 2, 3}, 5}, 0, {}},
      {{{1, 2, 3}, {10, 20, 30}, 1}, 10, {0}},
      {{{1, 1, 1}, {2, 2, 2}, 2}, 4, {0, 1}},
      {{{0, 2, 3}, {5, 2, 3}, 5}, 10, {0, 1, 2}},
      {{{1, 2, 3}, {0, 2, 3}, 3}, 3, {2}},
      {{{100, 200, 300}, {1000, 2000, 3000}, 500}, 5000, {1, 2}},
      {{{.5, 1.5, 2}, {1, 2, 3}, 2}, 3, {0, 1}},
      {{{}, {}, 10}, 0, {}},
      {{{1, 2, 3}, {1, 2, 3}, 0}, 0, {}},
      {{{0, 0, 0}, {1, 2, 3}, 0}, 6, {0, 1, 2}},
      {{{1, 2, 3}, {0, 0, 0}, 6}, 0, {}},
  };
}

double memory_of(const KnapsackProblem& problem, const Indices& items) {
  double sum = 0;
  for (const int32_t item : items) sum += problem.memory[static_cast<size_t>(item)];
  return sum;
}

/// The most runtime that fits, by trying every set.
double best_runtime(const KnapsackProblem& problem) {
  double best = 0;
  for (uint32_t set = 0; set < (1U << problem.size()); ++set) {
    double memory = 0;
    double runtime = 0;
    for (size_t i = 0; i < problem.size(); ++i) {
      if (!(set >> i & 1)) continue;
      memory += problem.memory[i];
      runtime += problem.runtime[i];
    }
    if (memory <= problem.max_memory * (1 + 1e-12)) best = std::max(best, runtime);
  }
  return best;
}

KnapsackProblem random_problem(std::mt19937& random, size_t most) {
  KnapsackProblem problem;
  const bool fractions = random() % 2 == 0;
  for (size_t i = 0, n = 1 + random() % most; i < n; ++i) {
    const double memory = static_cast<double>(random() % 30);
    problem.memory.push_back(fractions ? memory / 37.0 : memory);
    problem.runtime.push_back(static_cast<double>(random() % 1000) * (random() % 5 == 0 ? 1e9 : 1));
  }
  const double all = std::accumulate(problem.memory.begin(), problem.memory.end(), 0.0);
  problem.max_memory = all * static_cast<double>(random() % 11) / 10;
  return problem;
}

class TableOfPyTorch : public testing::TestWithParam<Solver> {};

TEST_P(TableOfPyTorch, IsFilledRowByRow) {
  for (const Case& row : upstream_table()) {
    SCOPED_TRACE(testing::PrintToString(row.problem.memory) + " in " + std::to_string(row.problem.max_memory));
    const KnapsackChoice choice = GetParam()(row.problem);
    EXPECT_EQ(choice.runtime, row.runtime);
    EXPECT_EQ(choice.saved, row.saved);
    EXPECT_EQ(choice.saved.size() + choice.dropped.size(), row.problem.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, TableOfPyTorch,
                         testing::Values(&exact_knapsack, &torch_dp_knapsack, &torch_hirschberg_knapsack));

class BestChoice : public testing::TestWithParam<Solver> {};

TEST_P(BestChoice, IsFoundAmongAllSetsAndFits) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const KnapsackProblem problem = random_problem(random, 16);
    const KnapsackChoice choice = GetParam()(problem);
    ASSERT_LE(memory_of(problem, choice.saved), problem.max_memory * (1 + 1e-9));
    ASSERT_NEAR(choice.runtime, best_runtime(problem), 1e-9 * best_runtime(problem));
    ASSERT_NO_THROW(check_choice(problem, choice, "the solver"));
    ASSERT_EQ(choice.gap, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, BestChoice, testing::Values(&exact_knapsack, &ilp_knapsack));

TEST(Knapsack, GreedyNeverExceedsTheLimitAndTakesWeightlessValues) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const KnapsackProblem problem = random_problem(random, 40);
    const KnapsackChoice choice = greedy_knapsack(problem);
    ASSERT_LE(memory_of(problem, choice.saved), problem.max_memory * (1 + 1e-12));
    for (const int32_t item : choice.dropped) ASSERT_GT(problem.memory[static_cast<size_t>(item)], 0);
  }
}

// What PyTorch's programs get wrong, and ours right.

TEST(Knapsack, SmallValuesCountAndDontSlipUnderTheLimit) {
  const KnapsackProblem problem{std::vector<double>(2000, 4e-5), std::vector<double>(2000, 1), 0};
  EXPECT_EQ(torch_dp_knapsack(problem).saved.size(), 2000U) << "8 % of the range is kept at a budget of nothing";
  EXPECT_TRUE(exact_knapsack(problem).saved.empty());
}

TEST(Knapsack, ARuntimeOfOneCountsBesideABillion) {
  const KnapsackProblem problem{{.4, .1}, {1e9, 1}, .5};
  EXPECT_EQ(torch_dp_knapsack(problem).saved, (Indices{0})) << "in float32 1e9 + 1 is 1e9";
  EXPECT_EQ(exact_knapsack(problem).saved, (Indices{0, 1}));
  EXPECT_EQ(ilp_knapsack(problem).saved, (Indices{0, 1}));
}

TEST(Knapsack, ThreeValuesOfOneStepDontFitTwice) {
  const KnapsackProblem problem{{1e-4, 1e-4, 1e-4}, {1, 1, 1}, 1e-4};
  EXPECT_EQ(torch_hirschberg_knapsack(problem).saved.size(), 2U) << "its right halves get a step too much";
  EXPECT_EQ(exact_knapsack(problem).saved, (Indices{0}));
}

TEST(Knapsack, ThousandsOfCandidatesTakeLittleTimeAndLittleMemory) {
  KnapsackProblem problem;
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    problem.memory.push_back(static_cast<double>(1 + random() % 64) * 4096);
    problem.runtime.push_back(static_cast<double>(1 + random() % 1000));
  }
  problem.max_memory = std::accumulate(problem.memory.begin(), problem.memory.end(), 0.0) / 3;
  const KnapsackChoice choice = exact_knapsack(problem);
  EXPECT_LE(memory_of(problem, choice.saved), problem.max_memory * (1 + 1e-9));
  EXPECT_LE(greedy_knapsack(problem).runtime, choice.runtime);
  EXPECT_LE(choice.gap, choice.runtime * 1e-3);
}

TEST(Knapsack, AWrongChoiceIsNamed) {
  const KnapsackProblem problem{{1, 1}, {1, 1}, 2};
  const auto message = [&](const Indices& saved, const Indices& dropped) -> std::string {
    try {
      check_choice(problem, {0, saved, dropped}, "the solver");
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(message({0}, {1}), "");
  EXPECT_EQ(message({0}, {2}), "the solver names value 2, but there are values 0 to 2 (exclusive)");
  EXPECT_EQ(message({0}, {}),
            "the solver must put every value into exactly one of saved and dropped, but value 1 is in neither");
  EXPECT_EQ(message({0, 1}, {1}),
            "the solver must put every value into exactly one of saved and dropped, but value 1 is in more than one "
            "place");
}

}  // namespace
}  // namespace sapwood::partition
