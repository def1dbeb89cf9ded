#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/diagram.h"
#include "cli/files.h"
#include "cli/partition_options.h"
#include "partition/budget.h"
#include "partition/partition.h"
#include "partition/what_if.h"

namespace sapwood::cli {

namespace {

using Json = nlohmann::ordered_json;
using partition::SavedValue;

struct Options {
  std::string input = "-";
  std::vector<std::string> values;
  bool json = false;
  partition::PartitionOptions partition;
};

std::string price_text(const SavedValue& value) {
  if (value.is_input) return "an input of the step: keeping it costs nothing more";
  const partition::Price& price = value.price;
  if (!price.possible)
    return price.obstacle.empty() ? "there is nothing to compute it from"
                                  : "'" + price.obstacle + "' must run once, so it can't be computed again";
  std::string text = "dropping it frees " + std::to_string(value.bytes) + " bytes and repeats " +
                     std::to_string(price.nodes) + (price.nodes == 1 ? " call" : " calls") + " (" +
                     std::to_string(static_cast<int64_t>(price.runtime)) + " in the estimator's unit)";
  if (price.extra_bytes > 0) text += "; inputs of " + std::to_string(price.extra_bytes) + " bytes must be kept for it";
  return text;
}

std::string why_not_handed_over(const graph::Node& node) {
  if (node.kind == graph::NodeKind::kOutput) return "it is the graph's list of results";
  const bool tangent = node.kind == graph::NodeKind::kPlaceholder && node.target.contains("tangents");
  if (tangent) return "it is a gradient that comes into the backward";
  if (node.meta->partitioner_tag == graph::PartitionerTag::kBackward) return "it is computed in the backward";
  return "the backward doesn't need it";
}

void explain_value(const graph::Graph& joint, const partition::Plan& plan, const partition::WhatIf& what_if,
                   std::string& out) {
  const graph::NodeId id = what_if.node;
  const graph::Node& node = joint[id];
  out += node.name + "  " + short_type(node) + "\n";
  if (!node.meta->stack_trace.empty()) out += "  made by  " + node.meta->stack_trace + "\n";
  const auto saved = std::ranges::find(plan.saved, id, &SavedValue::node);
  const auto again = std::ranges::find(plan.recomputed, id, &partition::RecomputedValue::node);
  if (saved != plan.saved.end()) {
    out += "  saved    " + std::to_string(saved->bytes) + " bytes: " + saved->reason + "\n";
    out += "  price    " + price_text(*saved) + "\n";
  } else if (again != plan.recomputed.end()) {
    out += "  recomputed: " + again->reason + "\n";
  } else {
    out += "  neither saved nor recomputed: " + why_not_handed_over(node) + "\n";
  }
  if (!what_if.text.empty()) out += "  without  " + what_if.text + "\n";
}

std::vector<graph::NodeId> asked_values(const graph::Graph& joint, const partition::Plan& plan,
                                        const Options& options) {
  std::vector<graph::NodeId> values;
  for (const std::string& name : options.values) {
    const graph::NodeId id = joint.find(name);
    if (id == graph::kNoNode) throw_user("explain", "graph '" + joint.name + "' has no value named '" + name + "'");
    values.push_back(id);
  }
  if (!options.values.empty()) return values;
  for (const SavedValue& value : plan.saved)
    if (!value.is_input) values.push_back(value.node);
  return values;
}

Json as_json(const graph::Graph& joint, const partition::WhatIf& what_if) {
  Json entry;
  entry["name"] = joint[what_if.node].name;
  entry["source"] = joint[what_if.node].meta->stack_trace;
  entry["possible"] = what_if.possible;
  entry["text"] = what_if.text;
  entry["saved_bytes_now"] = what_if.saved_bytes_now;
  entry["saved_bytes_without"] = what_if.saved_bytes_without;
  return entry;
}

void explain(const Options& options) {
  graph::Graph joint = load_sound_graph(options.input);
  const partition::PartitionOptions ready = ready_options(options.partition);
  partition::Decision decision;
  const partition::Plan plan = partition::partition(joint, ready, &decision);
  std::string out;
  Json list = Json::array();
  for (const graph::NodeId id : asked_values(joint, plan, options)) {
    const bool alone = !options.values.empty();
    const partition::WhatIf what_if =
        alone || options.json ? partition::without_saving(joint, plan, ready, decision, id) : partition::WhatIf{id};
    if (options.json)
      list.push_back(as_json(joint, what_if));
    else
      explain_value(joint, plan, what_if, out);
  }
  write_output("-", options.json ? list.dump(2) + "\n" : out);
}

}  // namespace

void add_explain(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("explain", "Why a tensor is saved, from which line it comes, and what dropping it would cost");
  command->add_option("graph", options->input, "File with the joint graph, or - for standard input")->required();
  command->add_option("value", options->values, "Names of values; none: every saved tensor that isn't an input");
  command->add_flag("--json", options->json, "JSON instead of text");
  add_partition_options(*command, options->partition);
  command->callback([options] { explain(*options); });
}

}  // namespace sapwood::cli
