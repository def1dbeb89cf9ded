#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "ops/flops.h"
#include "ops/op_table.h"
#include "partition/joint_view.h"

namespace sapwood::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string input = "-";
  bool json = false;
};

struct OperatorCount {
  int64_t calls = 0;
  int64_t bytes = 0;  ///< of all results
  int64_t flops = 0;
  std::string op_class;
};

std::map<std::string, OperatorCount> count_operators(const graph::Graph& graph) {
  std::map<std::string, OperatorCount> counts;
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph[id];
    if (node.kind != graph::NodeKind::kCallFunction) continue;
    OperatorCount& count = counts[node.target];
    ++count.calls;
    if (node.val) count.bytes += partition::value_bytes(*node.val, graph.symbols);
    count.flops += ops::count_flops(graph, node).value_or(0);
    count.op_class = std::string(ops::op_class_name(ops::describe(graph, node).op_class));
  }
  return counts;
}

std::map<std::string, int64_t> count_kinds(const graph::Graph& graph) {
  std::map<std::string, int64_t> kinds;
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph[id];
    const auto tag = node.meta->partitioner_tag;
    if (node.kind == graph::NodeKind::kPlaceholder) ++kinds["placeholders"];
    if (node.kind == graph::NodeKind::kGetAttr) ++kinds["attributes"];
    if (node.kind != graph::NodeKind::kCallFunction) continue;
    ++kinds["calls"];
    if (tag == graph::PartitionerTag::kForward) ++kinds["forward calls"];
    if (tag == graph::PartitionerTag::kBackward) ++kinds["backward calls"];
    if (ops::draws_numbers(ops::describe(graph, node), node)) ++kinds["random calls"];
  }
  return kinds;
}

std::vector<std::pair<std::string, OperatorCount>> most_frequent(const graph::Graph& graph) {
  const auto counts = count_operators(graph);
  std::vector<std::pair<std::string, OperatorCount>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.calls > b.second.calls; });
  return sorted;
}

std::string as_text(const graph::Graph& graph) {
  std::string out = graph.name + ": " + std::to_string(graph.size()) + " nodes\n";
  for (const auto& [kind, count] : count_kinds(graph)) out += "  " + std::to_string(count) + " " + kind + "\n";
  out += "\n   calls  result bytes          flops  class         operator\n";
  for (const auto& [name, count] : most_frequent(graph)) {
    std::array<char, 96> numbers{};
    std::snprintf(numbers.data(), numbers.size(), "%8lld %13lld %14lld  %-13s ", static_cast<long long>(count.calls),
                  static_cast<long long>(count.bytes), static_cast<long long>(count.flops), count.op_class.c_str());
    out += numbers.data() + name + "\n";
  }
  return out;
}

std::string as_json(const graph::Graph& graph) {
  Json out;
  out["name"] = graph.name;
  out["nodes"] = graph.size();
  for (const auto& [kind, count] : count_kinds(graph)) out["kinds"][kind] = count;
  out["operators"] = Json::array();
  for (const auto& [name, count] : most_frequent(graph)) {
    out["operators"].push_back({{"name", name},
                                {"calls", count.calls},
                                {"bytes", count.bytes},
                                {"flops", count.flops},
                                {"class", count.op_class}});
  }
  return out.dump(2) + "\n";
}

}  // namespace

void add_stats(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stats", "Count a graph's nodes and operators, with bytes and operations");
  command->add_option("graph", options->input, "File with the graph, or - for standard input")->capture_default_str();
  command->add_flag("--json", options->json, "JSON instead of text");
  command->callback([options] {
    const graph::Graph graph = load_graph(options->input);
    write_output("-", options->json ? as_json(graph) : as_text(graph));
  });
}

}  // namespace sapwood::cli
