#include "partition/partition.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/diagram.h"
#include "cli/files.h"
#include "cli/partition_options.h"
#include "graph/text.h"
#include "partition/budget.h"
#include "partition/plan_file.h"
#include "partition/trace.h"

namespace sapwood::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input = "-";
  std::string folder;
  std::string save_plan;
  std::string plan;
  std::string trace;
  bool json = false;
  partition::PartitionOptions partition;
};

std::string padded(std::string text, size_t width, bool right) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

/// Columns as wide as their content; the second is right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    out += "  ";
    for (size_t i = 0; i + 1 < row.size(); ++i) out += padded(row[i], widths[i], i == 1) + "  ";
    out += row.back() + "\n";
  }
  return out;
}

std::string plan_text(const graph::Graph& joint, const partition::Plan& plan) {
  std::vector<std::vector<std::string>> rows = {{"saved", "bytes", "type", "why"}};
  for (const auto* list : {&plan.saved, &plan.saved_objects, &plan.saved_symbols}) {
    for (const partition::SavedValue& v : *list)
      rows.push_back({joint[v.node].name, std::to_string(v.bytes), short_type(joint[v.node]), v.reason});
  }
  const std::string method = plan.method == partition::Method::kMinCut ? "min_cut" : "default";
  std::string out = joint.name + ": method " + method + ", " + std::to_string(plan.saved.size()) + " tensors and " +
                    std::to_string(plan.saved_symbols.size()) + " symbols saved, " +
                    std::to_string(plan.recomputed.size()) + " values recomputed\n";
  if (rows.size() > 1) out += table(rows);
  out += "saved bytes that aren't inputs of the step: " + std::to_string(plan.saved_bytes()) + "\n";
  out += "most bytes alive at once, inputs apart: " + std::to_string(plan.peak_bytes) + "\n";
  if (!plan.budget_met) out += "no plan within the bytes allowed was found; this is the nearest\n";
  return out;
}

void write_folder(const Options& options, const std::string& plan, const partition::ForwardBackward& graphs) {
  make_folder(options.folder);
  const auto form = options.json ? &graph::print_json : +[](const graph::Graph& g) { return graph::print_text(g); };
  const std::string ending = options.json ? ".json" : ".txt";
  write_output(options.folder + "/plan" + ending, plan);
  write_output(options.folder + "/forward" + ending, form(graphs.forward));
  write_output(options.folder + "/backward" + ending, form(graphs.backward));
}

/// Where no cut exists: draws why, and adds the file's name to the error.
[[noreturn]] void rethrow_with_picture(const Options& options, const graph::Graph& joint, const Error& error) {
  const auto conflict = partition::find_conflict(joint, options.partition);
  if (!conflict) throw error;
  if (!options.folder.empty()) make_folder(options.folder);
  const std::string path = (options.folder.empty() ? "" : options.folder + "/") + "conflict.svg";
  write_output(path, conflict->svg());
  throw Error(error.kind(), error.stage(), error.message() + ". Drawn in " + path);
}

void tell(const Options& options, const graph::Graph& joint, const partition::Plan& plan,
          const partition::Decision& decision) {
  if (!options.trace.empty()) write_output(options.trace, partition::trace_json(joint, decision));
  if (LogLevels::from_environment().enabled("partition", LogLevel::kDebug))
    std::cerr << partition::describe_solves(joint, decision) << partition::debug_report(joint, plan);
}

partition::PinnedPlan pinned_plan(const std::string& file, graph::Graph& joint) {
  const std::string text = read_file(file);
  try {
    return partition::read_plan(text, joint);
  } catch (const Error& error) {
    throw Error(error.kind(), error.stage(), file + ": " + error.message());
  }
}

partition::PinnedPlan decide(const Options& options, graph::Graph& joint) {
  if (!options.plan.empty()) return pinned_plan(options.plan, joint);
  const partition::PartitionOptions ready = ready_options(options.partition);
  partition::Decision decision;
  try {
    const partition::Plan plan = partition::partition(joint, ready, &decision);
    tell(options, joint, plan, decision);
    return {plan, ready};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    rethrow_with_picture(options, joint, error);
  }
}

void partition_graph(const Options& options) {
  graph::Graph joint = load_sound_graph(options.input);
  const partition::PinnedPlan made = decide(options, joint);
  const partition::ForwardBackward graphs = partition::extract(joint, made.plan);
  const std::string pinned = partition::print_plan(joint, made.plan, made.options);
  if (!options.save_plan.empty()) write_output(options.save_plan, pinned);
  const std::string text = options.json ? pinned : plan_text(joint, made.plan);
  if (!options.folder.empty()) {
    write_folder(options, text, graphs);
    return write_output("-", text);
  }
  if (!options.json)
    return write_output("-",
                        text + "\n" + graph::print_text(graphs.forward) + "\n" + graph::print_text(graphs.backward));
  Json json = Json::parse(pinned);
  json["forward"] = Json::parse(graph::print_json(graphs.forward));
  json["backward"] = Json::parse(graph::print_json(graphs.backward));
  write_output("-", json.dump() + "\n");
}

}  // namespace

void add_partition(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("partition", "Cut a joint graph into forward and backward; says what is saved, and why");
  command->add_option("graph", options->input, "File with the joint graph, or - for standard input")
      ->capture_default_str();
  command->add_option("-o,--output", options->folder,
                      "Folder for forward, backward and plan; without it all goes to standard output");
  command->add_flag("--json", options->json, "JSON instead of text");
  command->add_option("--save-plan", options->save_plan, "File for the plan, to be used again with --plan");
  CLI::Option* pinned = command->add_option(
      "--plan", options->plan,
      "Use the plan in this file instead of making one; fails if the graph or its marks are others");
  const std::vector<CLI::Option*> for_all = command->get_options();
  command->add_option("--trace", options->trace,
                      "File for the cuts and the knapsack behind the decision, as PyTorch's min_cut_information");
  add_partition_options(*command, options->partition);
  // What would decide has no effect on a plan that is made.
  for (CLI::Option* option : command->get_options())
    if (std::ranges::find(for_all, option) == for_all.end()) pinned->excludes(option);
  command->callback([options] { partition_graph(*options); });
}

}  // namespace sapwood::cli
