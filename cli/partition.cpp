#include "partition/partition.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/diagram.h"
#include "cli/files.h"
#include "graph/text.h"

namespace sapwood::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input = "-";
  std::string folder;
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
  for (const auto& list : {plan.saved, plan.saved_symbols}) {
    for (const partition::SavedValue& v : list)
      rows.push_back({joint[v.node].name, std::to_string(v.bytes), short_type(joint[v.node]), v.reason});
  }
  const std::string method = plan.method == partition::Method::kMinCut ? "min-cut" : "default";
  std::string out = joint.name + ": method " + method + ", " + std::to_string(plan.saved.size()) + " tensors and " +
                    std::to_string(plan.saved_symbols.size()) + " symbols saved, " +
                    std::to_string(plan.recomputed.size()) + " values recomputed\n";
  if (rows.size() > 1) out += table(rows);
  return out + "saved bytes that aren't inputs of the step: " + std::to_string(plan.saved_bytes()) + "\n";
}

template <typename Entries>
Json entries_json(const graph::Graph& joint, const Entries& entries) {
  Json list = Json::array();
  for (const auto& v : entries) {
    Json entry;
    entry["name"] = joint[v.node].name;
    entry["type"] = short_type(joint[v.node]);
    entry["bytes"] = v.bytes;
    entry["reason"] = v.reason;
    list.push_back(std::move(entry));
  }
  return list;
}

Json plan_json(const graph::Graph& joint, const partition::Plan& plan) {
  Json out;
  out["name"] = joint.name;
  out["method"] = plan.method == partition::Method::kMinCut ? "min-cut" : "default";
  out["saved"] = entries_json(joint, plan.saved);
  out["saved_symbols"] = entries_json(joint, plan.saved_symbols);
  out["recomputed"] = entries_json(joint, plan.recomputed);
  out["cut_value"] = plan.cut_value;
  out["saved_bytes"] = plan.saved_bytes();
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

void partition_graph(const Options& options) {
  graph::Graph joint = load_sound_graph(options.input);
  const partition::Plan plan = partition::partition(joint, options.partition);
  const partition::ForwardBackward graphs = partition::extract(joint, plan);
  Json json = options.json ? plan_json(joint, plan) : Json();
  const std::string text = options.json ? json.dump(2) + "\n" : plan_text(joint, plan);
  if (!options.folder.empty()) {
    write_folder(options, text, graphs);
    return write_output("-", text);
  }
  if (!options.json)
    return write_output("-",
                        text + "\n" + graph::print_text(graphs.forward) + "\n" + graph::print_text(graphs.backward));
  json["forward"] = Json::parse(graph::print_json(graphs.forward));
  json["backward"] = Json::parse(graph::print_json(graphs.backward));
  write_output("-", json.dump() + "\n");
}

void add_switch(CLI::App& command, const std::string& name, bool& value, const std::string& what) {
  command.add_flag("--" + name + ",!--no-" + name, value, what + (value ? " [on]" : " [off]"));
}

void add_rules(CLI::App& command, partition::PartitionOptions& p) {
  add_switch(command, "cse", p.cse, "Merge common subexpressions first");
  add_switch(command, "recompute-views", p.recompute_views, "Recompute views in the backward");
  add_switch(command, "parameters-free", p.treat_parameters_as_free_to_save,
             "Parameters and buffers cost nothing to save");
  add_switch(command, "aggressive", p.aggressive_recomputation, "Recompute all that may be recomputed");
  add_switch(command, "ban-far-apart", p.ban_recompute_used_far_apart, "Don't recompute what is used far apart");
  add_switch(command, "ban-long-chains", p.ban_recompute_long_fusible_chains,
             "Don't recompute long chains of fusible operators");
  add_switch(command, "ban-materialized", p.ban_recompute_materialized_backward,
             "Don't recompute what the backward materializes");
  add_switch(command, "ban-not-in-allowlist", p.ban_recompute_not_in_allowlist,
             "Recompute only operators known to be cheap");
  add_switch(command, "ban-reductions", p.ban_recompute_reductions, "Don't recompute reductions");
  add_switch(command, "only-free", p.recompute_only_free, "Recompute only what costs no pass over memory");
  command
      .add_option("--max-dist-from-bw", p.max_dist_from_bw,
                  "Distance from the backward after which all costs are equal")
      ->capture_default_str()
      ->check(whole_number<int64_t>());
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
  const std::map<std::string, partition::Method> methods = {{"default", partition::Method::kDefault},
                                                            {"min-cut", partition::Method::kMinCut}};
  command
      ->add_option("--method", options->partition.method,
                   "default: save what the backward reads; min-cut: save the cheapest cut [min-cut]")
      ->transform(CLI::Transformer(methods).description(""))
      ->transform(CLI::IsMember(methods));  // runs first
  add_rules(*command, options->partition);
  command->callback([options] { partition_graph(*options); });
}

}  // namespace sapwood::cli
