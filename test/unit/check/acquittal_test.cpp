// Pairs that are right have no findings: those of our partitioner, and those that PyTorch's made of the same graphs.
// The exceptions among the latter are real: there PyTorch draws random numbers or communicates again in the backward.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "check/check.h"
#include "partition/partition.h"
#include "unit/check/recorded_pair.h"
#include "unit/partition/corpus.h"

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::NodeId;
using nlohmann::json;
using partition::PartitionOptions;

std::string text(const std::vector<Finding>& findings) {
  std::string all;
  for (size_t i = 0; i < findings.size() && i < 5; ++i) all += describe(findings[i]) + "\n";
  return all + std::to_string(findings.size()) + " findings";
}

PlanFacts facts_of(const Graph& joint, const partition::Plan& plan) {
  PlanFacts facts;
  for (const auto& value : plan.saved) facts.saved.push_back(joint[value.node].name);
  for (const auto& value : plan.saved_symbols) facts.saved_symbols.push_back(joint[value.node].name);
  for (const auto& value : plan.recomputed) facts.recomputed.push_back(joint[value.node].name);
  return facts;
}

std::vector<PartitionOptions> some_options() {
  std::vector<PartitionOptions> all(10);
  all[0].method = partition::Method::kDefault;
  all[2].cse = false;
  all[3].recompute_views = true;
  all[4].aggressive_recomputation = true;
  all[5].ban_recompute_used_far_apart = false;
  all[5].ban_recompute_long_fusible_chains = false;
  all[6].ban_recompute_materialized_backward = false;
  all[7].ban_recompute_not_in_allowlist = false;
  all[8].ban_recompute_reductions = false;
  all[9].recompute_only_free = true;
  return all;
}

class Acquittal : public testing::TestWithParam<std::string> {};

TEST_P(Acquittal, OurPairsAndPlansHaveNoFindings) {
  const Graph recorded = test::corpus_graph(GetParam());
  for (size_t i = 0; i < some_options().size(); ++i) {
    SCOPED_TRACE("options " + std::to_string(i));
    Graph joint = recorded;
    const partition::Plan plan = partition::partition(joint, some_options()[i]);
    const partition::ForwardBackward parts = partition::extract(joint, plan);
    const auto against_original = check_pair(recorded, parts.forward, parts.backward);
    EXPECT_TRUE(against_original.empty()) << text(against_original);
    const auto against_merged = check_pair(joint, parts.forward, parts.backward);
    EXPECT_TRUE(against_merged.empty()) << text(against_merged);
    const auto planned = check_plan(joint, facts_of(joint, plan));
    EXPECT_TRUE(planned.empty()) << text(planned);
  }
}

/// Gives every call of both parts a new name, the same to what is handed over.
void rename_calls(partition::ForwardBackward& parts) {
  const auto is_call = [](const graph::Node& node) { return node.kind == graph::NodeKind::kCallFunction; };
  std::map<std::string, std::string> handed_over;
  for (const NodeId id : parts.forward.order()) {
    if (!is_call(parts.forward[id])) continue;
    std::string name = "f" + std::to_string(id);
    handed_over[parts.forward[id].name] = name;
    parts.forward.rename(id, name);
  }
  for (const NodeId id : parts.backward.order()) {
    const graph::Node& node = parts.backward[id];
    const auto known = handed_over.find(node.name);
    if (is_call(node))
      parts.backward.rename(id, "b" + std::to_string(id));
    else if (node.kind == graph::NodeKind::kPlaceholder && known != handed_over.end())
      parts.backward.rename(id, known->second);
  }
}

TEST_P(Acquittal, NamesOfCallsDontMatter) {
  for (const size_t i : {0U, 1U, 7U}) {
    SCOPED_TRACE("options " + std::to_string(i));
    Graph joint = test::corpus_graph(GetParam());
    const partition::Plan plan = partition::partition(joint, some_options()[i]);
    partition::ForwardBackward parts = partition::extract(joint, plan);
    rename_calls(parts);
    const auto found = check_pair(joint, parts.forward, parts.backward);
    EXPECT_TRUE(found.empty()) << text(found);
  }
}

/// What may not run twice, by the JSON of the joint graph: random operators and collectives that no checkpoint repeats.
struct OnceOnly {
  std::set<std::string> draws;
  std::set<std::string> collectives;
};

OnceOnly once_only(const json& joint) {
  OnceOnly names;
  for (const json& node : joint.at("nodes")) {
    const std::string target = node.at("target");
    if (node.at("op") != "call_function" || !joint.at("ops").contains(target) || node.at("meta").contains("recompute"))
      continue;
    const std::string name = node.at("name");
    if (target.starts_with("_c10d_functional.") && target.find("wait_tensor") == std::string::npos)
      names.collectives.insert(name);
    const json& tags = joint.at("ops").at(target).at("tags");
    if (std::ranges::find(tags, "nondeterministic_seeded") == tags.end()) continue;
    const bool is_attention = target.find("attention") != std::string::npos;
    // Attention's fourth argument is its dropout probability; without it, it is zero.
    if (!is_attention || (node.at("args").size() > 3 && node.at("args").at(3) != 0.0)) names.draws.insert(name);
  }
  return names;
}

/// Those of `names` that the record has in both parts.
std::set<std::string> in_both(const std::set<std::string>& names, const json& decision) {
  std::set<std::string> forward;
  for (const json& node : decision.at("forward"))
    if (node.at("op") == "call_function") forward.insert(node.at("name").get<std::string>());
  std::set<std::string> both;
  for (const json& node : decision.at("backward")) {
    const std::string name = node.at("name");
    if (node.at("op") == "call_function" && names.contains(name) && forward.contains(name)) both.insert(name);
  }
  return both;
}

TEST_P(Acquittal, PyTorchsPairsAreConvictedOfDrawingAndCommunicatingTwiceOnly) {
  const Graph joint = test::corpus_graph(GetParam());
  const OnceOnly names = once_only(test::corpus_graph_json(GetParam()));
  int checked = 0;
  for (const json& decision : test::corpus_decisions(GetParam())) {
    if (!decision.at("ok").get<bool>()) continue;
    SCOPED_TRACE(decision.at("config").dump());
    const test::GraphPair pair = test::recorded_pair(joint, decision);
    OnceOnly convicted;
    std::vector<Finding> others;
    for (const Finding& finding : check_pair(joint, pair.forward, pair.backward)) {
      if (finding.rule == "random-once" && finding.graph == "backward")
        convicted.draws.insert(finding.node);
      else if (finding.rule == "effect-once" && finding.graph == "backward")
        convicted.collectives.insert(finding.node);
      else
        others.push_back(finding);
    }
    EXPECT_EQ(convicted.draws, in_both(names.draws, decision));
    EXPECT_EQ(convicted.collectives, in_both(names.collectives, decision));
    EXPECT_TRUE(others.empty()) << text(others);
    ++checked;
  }
  EXPECT_GE(checked, 15);
}

std::string model_name(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(AllModels, Acquittal, testing::ValuesIn(test::corpus_models()), model_name);

}  // namespace
}  // namespace sapwood::check
