#include "ops/verify_calls.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"

namespace sapwood::cli {

namespace {

struct Options {
  std::string input = "-";
  bool json = false;
};

std::string as_json(const graph::Graph& graph, const std::vector<graph::Violation>& violations) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const graph::Violation& v : violations) {
    nlohmann::ordered_json entry;
    entry["rule"] = v.rule;
    entry["node"] =
        v.node == graph::kNoNode ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(graph[v.node].name);
    entry["message"] = v.message;
    list.push_back(std::move(entry));
  }
  return list.dump(2) + "\n";
}

std::string as_text(const graph::Graph& graph, const std::vector<graph::Violation>& violations) {
  if (violations.empty()) return graph.name + ": sound, " + std::to_string(graph.size()) + " nodes\n";
  std::string out;
  for (const graph::Violation& v : violations) out += v.rule + ": " + v.message + "\n";
  const std::string count = violations.size() == 1 ? "1 violation" : std::to_string(violations.size()) + " violations";
  return out + graph.name + ": " + count + "\n";
}

int verify(const Options& options) {
  const graph::Graph graph = load_graph(options.input);
  const std::vector<graph::Violation> violations = ops::verify_all(graph);
  write_output("-", options.json ? as_json(graph, violations) : as_text(graph, violations));
  return violations.empty() ? kGood : kBadInput;
}

}  // namespace

void add_verify(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Check the rules of the graph; exit status 1 if one is broken");
  command->add_option("graph", options->input, "File with the graph, or - for standard input")->capture_default_str();
  command->add_flag("--json", options->json, "A list of {rule, node, message}");
  command->callback([options, &status] { status = verify(*options); });
}

}  // namespace sapwood::cli
