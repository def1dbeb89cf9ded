// Joint graphs of real models, split in every way: forward and backward compute what the joint graph computes.

#include <gtest/gtest.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "check/findings.h"
#include "configurations.h"
#include "corpus_models.h"
#include "graph/text.h"
#include "pair_run.h"

namespace sapwood::interp {
namespace {

using graph::Graph;

const RunOptions kOneRank{.observer = {}, .device = nullptr, .single_rank = true};

/// Seeds of inputs and random numbers; more with SAPWOOD_SEEDS.
uint64_t seeds() {
  const char* text = std::getenv("SAPWOOD_SEEDS");
  return text ? std::stoull(text) : 1;
}

/// One thread: with more, some of ATen's kernels don't repeat themselves to the bit.
class Equivalence : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

/// A pair, and the configurations that lead to it.
struct Split {
  partition::ForwardBackward pair;
  std::vector<Configuration> by;
  std::vector<check::Finding> found;

  std::string text() const { return by.front().text + " (and " + std::to_string(by.size() - 1) + " more)"; }
  bool only_torch() const {
    return std::ranges::all_of(
        by, [](const Configuration& one) { return one.options.compatibility == partition::Compatibility::kTorch213; });
  }
};

/// Different pairs only, in the order of the configurations.
std::vector<Split> splits_of(const Graph& recorded) {
  std::vector<Split> splits;
  std::map<std::string, size_t> known;
  for (const Configuration& one : configurations()) {
    Graph joint = recorded;
    const partition::Plan plan = partition::partition(joint, one.options);
    partition::ForwardBackward pair = partition::extract(joint, plan);
    const auto [at, is_new] =
        known.emplace(graph::print_text(pair.forward) + graph::print_text(pair.backward), splits.size());
    if (is_new) splits.push_back({std::move(pair), {}, {}});
    splits[at->second].by.push_back(one);
  }
  for (Split& split : splits) split.found = check::check_pair(recorded, split.pair.forward, split.pair.backward);
  return splits;
}

/// Nothing differs, unless it is proven that the pair draws twice, as only PyTorch does.
void expect_equal(const Graph& joint, const Split& split, const StepRun& whole, const StepRun& halves) {
  const auto difference = first_difference(joint, whole, halves);
  if (!split.found.empty()) return;
  EXPECT_FALSE(difference) << split.text() << ": " << *difference << " differs";
}

void expect_proven(const Split& split) {
  for (const check::Finding& finding : split.found) {
    EXPECT_TRUE(split.only_torch()) << split.text() << ": " << check::describe(finding);
    EXPECT_TRUE(finding.rule == check::kRandomOnce || finding.rule == check::kEffectOnce)
        << split.text() << ": " << check::describe(finding);
  }
}

TEST_P(Equivalence, EveryConfigurationComputesTheJointGraph) {
  const Graph joint = load_model(GetParam());
  const std::vector<Split> splits = splits_of(joint);
  for (const Split& split : splits) expect_proven(split);
  for (uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Values inputs = make_random_inputs(joint, seed);
    const StepRun whole = run_joint(joint, inputs, seed, kOneRank);
    for (const Split& split : splits)
      expect_equal(joint, split, whole, run_pair(joint, split.pair, inputs, seed, kOneRank));
  }
}

/// PyTorch draws again in the backward once its list of cheap operators is off; that is proven, and shows.
TEST(TwiceDrawn, IsProvenWhereResultsDiffer) {
  at::set_num_threads(1);
  const Graph joint = load_model("chargpt");
  const Values inputs = make_random_inputs(joint, 1);
  const StepRun whole = run_joint(joint, inputs, 1);
  for (const auto mode : {partition::Compatibility::kTorch213, partition::Compatibility::kRepaired}) {
    partition::PartitionOptions options;
    options.compatibility = mode;
    options.activation_memory_budget = 0;
    Graph copy = joint;
    const partition::Plan plan = partition::partition(copy, options);
    const partition::ForwardBackward pair = partition::extract(copy, plan);
    const auto found = check::check_pair(joint, pair.forward, pair.backward);
    const bool differs = first_difference(joint, whole, run_pair(joint, pair, inputs, 1)).has_value();
    EXPECT_EQ(differs, mode == partition::Compatibility::kTorch213);
    EXPECT_EQ(!found.empty(), differs);
    for (const check::Finding& finding : found) EXPECT_EQ(finding.rule, check::kRandomOnce);
  }
}

/// All 31 run; a model that joins the corpus must be listed, or be named here with the reason why it can't.
TEST(Corpus, EveryModelIsExecutable) {
  std::vector<std::string> models;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SAPWOOD_TEST_DATA) + "/corpus"))
    if (std::filesystem::exists(entry.path() / "graph.json.zst")) models.push_back(entry.path().filename().string());
  std::ranges::sort(models);
  std::vector<std::string> run = all_models();
  std::ranges::sort(run);
  EXPECT_EQ(run, models);
  EXPECT_GE(run.size(), 25U);
}

INSTANTIATE_TEST_SUITE_P(Models, Equivalence, testing::ValuesIn(all_models()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::interp
