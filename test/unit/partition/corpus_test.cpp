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

/// Our options for a recorded configuration; nothing for one that isn't implemented.
std::optional<PartitionOptions> options_of(const json& config) {
  PartitionOptions options;
  options.method = config.at("partitioner") == "default" ? Method::kDefault : Method::kMinCut;
  const std::map<std::string, bool PartitionOptions::*> flags = {
      {"cse", &PartitionOptions::cse},
      {"recompute_views", &PartitionOptions::recompute_views},
      {"treat_parameters_as_free_to_save", &PartitionOptions::treat_parameters_as_free_to_save},
      {"aggressive_recomputation", &PartitionOptions::aggressive_recomputation},
      {"ban_recompute_used_far_apart", &PartitionOptions::ban_recompute_used_far_apart},
      {"ban_recompute_long_fusible_chains", &PartitionOptions::ban_recompute_long_fusible_chains},
      {"ban_recompute_materialized_backward", &PartitionOptions::ban_recompute_materialized_backward},
      {"ban_recompute_not_in_allowlist", &PartitionOptions::ban_recompute_not_in_allowlist},
      {"ban_recompute_reductions", &PartitionOptions::ban_recompute_reductions},
  };
  for (const auto& [name, value] : config.at("functorch").items()) {
    const auto flag = flags.find(name);
    if (flag == flags.end()) return std::nullopt;
    options.*(flag->second) = value.get<bool>();
  }
  return options;
}

Names names_of(const Graph& graph, const std::vector<SavedValue>& values) {
  Names names;
  for (const SavedValue& value : values) names.push_back(graph[value.node].name);
  return names;
}

/// In order; the output node's own name doesn't matter.
Names node_names(const Graph& graph) {
  Names names = test::names_of(graph, graph.order());
  names.pop_back();
  return names;
}

Names recorded_names(const json& nodes) {
  Names names;
  for (const json& node : nodes)
    if (node.at("op") != "output") names.push_back(node.at("name"));
  return names;
}

json output_names(const Graph& graph) {
  json names = json::array();
  for (const NodeId id : graph.output_values()) names.push_back(id == kNoNode ? json() : json(graph[id].name));
  return names;
}

Names placeholder_names(const Graph& graph) { return test::names_of(graph, graph.placeholders()); }

bool is_plain_min_cut(const json& config) {
  return config.at("partitioner") == "min_cut" && config.at("functorch").empty() && config.at("compiler") == "inductor";
}

/// With the list of recomputable operators switched off, PyTorch draws random numbers a second time in the backward and
/// gets other ones: its gradients are wrong then. We never do that.
bool draws_twice(const Graph& joint, const json& decision) {
  std::set<std::string> forward;
  for (const json& node : decision.at("forward")) forward.insert(node.at("name").get<std::string>());
  for (const json& node : decision.at("backward")) {
    const NodeId id = node.at("op") == "call_function" ? joint.find(node.at("name").get<std::string>()) : kNoNode;
    if (id == kNoNode || !ops::draws_numbers(ops::describe(joint, joint[id]), joint[id]) ||
        !forward.contains(joint[id].name))
      continue;
    if (joint[id].meta.recompute == graph::CheckpointPolicy::kNone) return true;
  }
  return false;
}

void expect_draws_once(const Graph& joint, const Plan& plan) {
  for (const RecomputedValue& value : plan.recomputed) {
    const graph::Node& node = joint[value.node];
    if (node.meta.recompute != graph::CheckpointPolicy::kNone) continue;  // its generator state is replayed
    EXPECT_FALSE(ops::draws_numbers(ops::describe(joint, node), node)) << node.name << " is drawn again";
  }
}

void expect_same_parts(const ForwardBackward& parts, const json& decision) {
  EXPECT_EQ(node_names(parts.forward), recorded_names(decision.at("forward")));
  EXPECT_EQ(node_names(parts.backward), recorded_names(decision.at("backward")));
  EXPECT_EQ(output_names(parts.forward), decision.at("forward_outputs"));
  EXPECT_EQ(output_names(parts.backward), decision.at("backward_outputs"));
  EXPECT_EQ(placeholder_names(parts.backward), decision.at("backward_inputs").get<Names>());
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, DecidesAndSplitsAsPyTorchDoes) {
  const Graph recorded = corpus_graph(GetParam());
  int compared = 0;
  for (const json& decision : corpus_decisions(GetParam())) {
    const auto options = options_of(decision.at("config"));
    if (!options || !decision.at("ok").get<bool>()) continue;
    SCOPED_TRACE(decision.at("config").dump());
    Graph joint = recorded;
    const Plan plan = partition(joint, *options);
    if (draws_twice(recorded, decision)) {
      expect_draws_once(joint, plan);
      continue;
    }
    EXPECT_EQ(names_of(joint, plan.saved), decision.at("saved").get<Names>());
    EXPECT_EQ(names_of(joint, plan.saved_symbols), decision.at("saved_sym").get<Names>());
    expect_same_parts(extract(joint, plan), decision);
    for (const SavedValue& value : plan.saved) EXPECT_FALSE(value.reason.empty()) << joint[value.node].name;
    for (const RecomputedValue& value : plan.recomputed) EXPECT_FALSE(value.reason.empty()) << joint[value.node].name;
    ++compared;
  }
  EXPECT_GE(compared, 2) << "the default partition and the minimum cut should both have been compared";
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
