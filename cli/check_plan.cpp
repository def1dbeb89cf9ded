#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/check.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "partition/partition.h"
#include "partition/plan_file.h"

namespace sapwood::cli {

namespace {

struct Options {
  std::string joint;
  std::string forward;
  std::string backward;
  std::string plan;
  bool json = false;
};

template <typename Values>
std::vector<std::string> names(const graph::Graph& joint, const Values& values) {
  std::vector<std::string> all;
  for (const auto& value : values) all.push_back(joint[value.node].name);
  return all;
}

/// A plan is checked by itself and by the graphs that it leads to.
std::vector<check::Finding> check_pinned(const Options& options, graph::Graph joint) {
  const graph::Graph original = joint;
  const partition::PinnedPlan pinned = partition::read_plan(read_file(options.plan), joint);
  check::PlanFacts facts;
  facts.saved = names(joint, pinned.plan.saved);
  for (std::string& name : names(joint, pinned.plan.saved_objects)) facts.saved.push_back(std::move(name));
  facts.saved_symbols = names(joint, pinned.plan.saved_symbols);
  facts.recomputed = names(joint, pinned.plan.recomputed);
  std::vector<check::Finding> findings = check::check_plan(joint, facts);
  if (!findings.empty()) return findings;
  const partition::ForwardBackward parts = partition::extract(joint, pinned.plan);
  return check::check_pair(original, parts.forward, parts.backward);
}

std::vector<check::Finding> find(const Options& options) {
  const graph::Graph joint = load_graph(options.joint);
  if (!options.plan.empty()) return check_pinned(options, joint);
  return check::check_pair(joint, load_graph(options.forward), load_graph(options.backward));
}

std::string report(const std::vector<check::Finding>& findings, bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const check::Finding& finding : findings) {
    list.push_back(check::to_json(finding));
    text += check::describe(finding) + "\n";
  }
  if (json) return list.dump(2) + "\n";
  return text.empty() ? "the pair does what the joint graph does\n" : text;
}

}  // namespace

void add_check_plan(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "check-plan", "Prove that a forward and a backward graph, or a plan, do what the joint graph does");
  command->add_option("joint", options->joint, "File with the joint graph")->required();
  CLI::Option* forward =
      command->add_option("forward", options->forward, "File with the forward graph, of any partitioner");
  CLI::Option* backward = command->add_option("backward", options->backward, "File with the backward graph");
  CLI::Option* plan = command->add_option("--plan", options->plan, "File with a plan, instead of the two graphs");
  forward->needs(backward);
  plan->excludes(forward);
  command->add_flag("--json", options->json, "JSON instead of text");
  std::string rules = "Rules:\n";
  for (const check::Rule& rule : check::rules()) rules += "  " + rule.id + ": " + rule.description + "\n";
  command->footer(rules + "Exit status: 0 if it is proven, 1 if something differs.");
  command->callback([options, forward, plan, &status] {
    if (forward->count() + plan->count() == 0) throw CLI::RequiredError("two graphs or --plan");
    const std::vector<check::Finding> findings = find(*options);
    write_output("-", report(findings, options->json));
    if (!findings.empty()) status = kBadInput;
  });
}

}  // namespace sapwood::cli
