// Whole workloads, trained eagerly and through Sapwood: every loss, parameter, buffer and optimizer state is equal bit
// for bit.

#include <gtest/gtest.h>

#include "common/runner.h"
#include "common/state.h"
#include "e2e/twins.h"

namespace sapwood::test {
namespace {

struct Case {
  const char* id;
  int64_t steps;
  int64_t batch = 0;  ///< 0: as the workload defines it
};

class Workloads : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
};

TEST_P(Workloads, TrainBitEqualToEager) {
  const Case& c = GetParam();
  torch::manual_seed(5);
  const auto eager = bench::make_eager(bench::make_workload(c.id, {.data = {}, .batch = c.batch}));
  bench::SapwoodRunner sapwood(bench::make_workload(c.id, {.data = {}, .batch = c.batch}));
  for (int64_t i = 0; i < c.steps; ++i) {
    const at::Tensor expected = eager->step_with_own_generator(eager->workload().batch(i));
    const at::Tensor actual = sapwood.step_with_own_generator(sapwood.workload().batch(i));
    ASSERT_TRUE(bench::bit_equal(expected, actual)) << "loss of step " << i << ": eager " << expected.item<double>()
                                                    << ", sapwood " << actual.item<double>() << '\n'
                                                    << describe(sapwood.report());
  }
  EXPECT_EQ("", bench::first_difference(bench::named_state(*eager->workload().model, *eager->workload().optimizer),
                                        bench::named_state(*sapwood.workload().model, *sapwood.workload().optimizer)));
  const Report report = sapwood.report();
  EXPECT_EQ(1, report.captured_steps) << describe(report);
  EXPECT_EQ(c.steps - 1, report.replayed_steps) << describe(report);
  EXPECT_EQ(0, report.eager_steps) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(All, Workloads,
                         testing::Values(Case{"W0", 30}, Case{"W1", 30}, Case{"W2", 30, 32}, Case{"W3", 30},
                                         Case{"W5", 10, 4}, Case{"W6", 10}, Case{"W7", 30, 32}, Case{"W8", 30, 16}),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.id); });

class Partitioners : public testing::TestWithParam<Partitioner> {};

TEST_P(Partitioners, TrainTheSmallGptBitEqualToEager) {
  at::set_num_threads(1);
  const auto eager = bench::make_eager(bench::make_workload("W3", {.data = {}, .batch = 2}));
  bench::SapwoodRunner sapwood(bench::make_workload("W3", {.data = {}, .batch = 2}), {.partitioner = GetParam()});
  for (int64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(bench::bit_equal(eager->step(eager->workload().batch(i)), sapwood.step(sapwood.workload().batch(i))))
        << "step " << i;
  }
  EXPECT_EQ("", bench::first_difference(bench::named_state(*eager->workload().model, *eager->workload().optimizer),
                                        bench::named_state(*sapwood.workload().model, *sapwood.workload().optimizer)));
  EXPECT_EQ(7, sapwood.report().replayed_steps) << describe(sapwood.report());
}

std::string partitioner_name(const testing::TestParamInfo<Partitioner>& info) {
  if (info.param == Partitioner::kAuto) return "Auto";
  return info.param == Partitioner::kDefault ? "Default" : "MinCut";
}

INSTANTIATE_TEST_SUITE_P(All, Partitioners,
                         testing::Values(Partitioner::kAuto, Partitioner::kDefault, Partitioner::kMinCut),
                         partitioner_name);

TEST(Partitioning, MinCutSavesLessThanDefaultAndAutoNoMore) {
  at::set_num_threads(1);
  const auto saved = [](Partitioner partitioner) {
    bench::SapwoodRunner runner(bench::make_workload("W3", {.data = {}, .batch = 2}), {.partitioner = partitioner});
    for (int64_t i = 0; i < 2; ++i) runner.step(runner.workload().batch(i));
    const Report report = runner.report();
    EXPECT_EQ(1, report.replayed_steps) << describe(report);
    return report.signatures.at(0).saved_bytes;
  };
  const int64_t by_default = saved(Partitioner::kDefault);
  EXPECT_GT(by_default, 0);
  EXPECT_LT(saved(Partitioner::kMinCut), by_default);
  EXPECT_LE(saved(Partitioner::kAuto), by_default);
}

}  // namespace
}  // namespace sapwood::test
