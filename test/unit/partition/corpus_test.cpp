// The decisions of PyTorch 2.13's partitioner, recorded on joint graphs of real models, are the oracle.

#include "unit/partition/corpus.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "partition/flow_network.h"
#include "partition/min_cut.h"
#include "partition/partition.h"
#include "partition/tag_rules.h"
#include "passes/common_subexpression.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using nlohmann::json;
using test::corpus_decisions;
using test::corpus_graph;
using Names = std::vector<std::string>;

bool is_plain_min_cut(const json& config) {
  return config.at("partitioner") == "min_cut" && config.at("functorch").empty() && config.at("compiler") == "inductor";
}

class Corpus : public testing::TestWithParam<std::string> {};

// That the decisions are PyTorch's is compared by tools/parity.
TEST_P(Corpus, HasAReasonForEveryDecisionAndDrawsNothingTwice) {
  for (const bool by_list : {true, false}) {
    PartitionOptions options;
    options.ban_recompute_not_in_allowlist = by_list;
    Graph joint = corpus_graph(GetParam());
    const Plan plan = partition(joint, options);
    for (const SavedValue& value : plan.saved) EXPECT_FALSE(value.reason.empty()) << joint[value.node].name;
    for (const RecomputedValue& value : plan.recomputed) {
      const graph::Node& node = joint[value.node];
      EXPECT_FALSE(value.reason.empty()) << node.name;
      if (node.meta->recompute != graph::CheckpointPolicy::kNone) continue;  // its generator state is replayed
      EXPECT_FALSE(ops::draws_numbers(ops::describe(joint, node), node)) << node.name << " is drawn again";
    }
  }
}

/// What the cut is computed from, for the plain minimum cut.
struct Prepared {
  explicit Prepared(const std::string& model) : joint(corpus_graph(model)) {
    // Dead code goes first, as in `partition`.
    partition(joint, {});
    view = view_joint(joint, true);
    apply_tag_rules(view, false);
    classes = classify(view);
  }
  Graph joint;
  JointView view;
  Classification classes;
};

TEST_P(Corpus, BansAndWeighsAsPyTorchDoes) {
  for (const json& decision : corpus_decisions(GetParam())) {
    if (!is_plain_min_cut(decision.at("config"))) continue;
    const Prepared p(GetParam());
    const MinCutSolution solution = solve_min_cut(p.view, p.classes, {.compatibility = Compatibility::kTorch213});
    const json& recorded = decision.at("solves").at(0);
    EXPECT_EQ(test::names_of(p.joint, solution.bans.order), recorded.at("banned").get<Names>());
    EXPECT_EQ(test::names_of(p.joint, solution.saved), recorded.at("saved").get<Names>());
    EXPECT_EQ(solution.value, recorded.at("cut_value").get<int64_t>());

    std::map<std::string, std::string> reasons;
    for (const NodeId id : solution.bans.order) reasons[p.joint[id].name] = solution.bans.text(id);
    std::map<std::string, std::string> recorded_reasons;
    for (const json& ban : decision.at("bans")) recorded_reasons[ban.at(0)] = ban.at(1);
    EXPECT_EQ(reasons, recorded_reasons);

    std::map<std::string, std::optional<int64_t>> weights;
    for (const NodeId id : p.view.order) {
      if (p.view.role_of(id) == Role::kOutput || p.classes.in_closure(id) || p.view.must_recompute(id)) continue;
      const Weight& weight = solution.weights[static_cast<size_t>(id)];
      weights[p.joint[id].name] = weight.infinite ? std::nullopt : std::optional(weight.capacity);
    }
    std::map<std::string, std::optional<int64_t>> recorded_weights;
    for (const auto& [name, weight] : decision.at("weights").items())
      recorded_weights[name] = weight.is_null() ? std::nullopt : std::optional(weight.get<int64_t>());
    EXPECT_EQ(weights, recorded_weights);
  }
}

std::string model_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(AllModels, Corpus, testing::ValuesIn(test::corpus_models()), model_name);

class SmallCorpus : public testing::TestWithParam<std::string> {};

TEST_P(SmallCorpus, BuildsPyTorchsFlowNetwork) {
  const Prepared p(GetParam());
  const PartitionOptions options = {.compatibility = Compatibility::kTorch213};
  const Bans bans = ban_recomputation(p.view, p.classes, options);
  const std::vector<Weight> weights = weigh(p.view, p.classes, options);
  const FlowNetwork network(p.view, p.classes, bans, weights);
  using Edge = std::tuple<std::string, std::string, std::optional<int64_t>>;
  std::set<Edge> edges;
  for (const FlowNetwork::Edge& edge : network.edges())
    edges.insert({edge.from, edge.to, edge.infinite ? std::nullopt : std::optional(edge.capacity)});
  std::set<Edge> recorded;
  for (const json& edge : test::corpus_network(GetParam()))
    recorded.insert(
        {edge.at(0), edge.at(1), edge.at(2).is_null() ? std::nullopt : std::optional(edge.at(2).get<int64_t>())});
  EXPECT_EQ(edges, recorded);
}

INSTANTIATE_TEST_SUITE_P(SmallModels, SmallCorpus, testing::ValuesIn(test::small_corpus_models()), model_name);

}  // namespace
}  // namespace sapwood::partition
