#include "graph/verify.h"

#include "base/error.h"
#include "graph/verify_rules.h"

namespace sapwood::graph {
namespace {

constexpr size_t kMessagesInError = 5;
constexpr int kMaxSubgraphDepth = 64;

void verify_into(const Graph& graph, const Graph& outermost, int depth, std::vector<Violation>& found) {
  VerifyContext context(graph, outermost, found);
  if (!verify_links(context)) return;
  verify_structure(context);
  verify_meaning(context);
  verify_values(context);
  for (const auto& [name, body] : graph.subgraphs) {
    if (!body || depth == kMaxSubgraphDepth) {
      context.report("subgraph", kNoNode, "subgraph '" + name + "' is " + (body ? "nested too deeply" : "missing"));
      continue;
    }
    const size_t before = found.size();
    verify_into(*body, outermost, depth + 1, found);
    for (size_t i = before; i < found.size(); ++i) found[i].message = "in subgraph '" + name + "': " + found[i].message;
  }
}

}  // namespace

VerifyContext::VerifyContext(const Graph& g, const Graph& outer, std::vector<Violation>& found)
    : graph(g), outermost(outer), found_(found) {}

void VerifyContext::report(std::string_view rule, NodeId node, const std::string& what) {
  std::string where;
  if (node >= 0 && static_cast<size_t>(node) < graph.id_bound()) {
    const Node& n = graph[node];
    where = "node '" + n.name + "'" + (n.target.empty() || n.target == n.name ? "" : " (" + n.target + ")") + ": ";
  }
  found_.push_back({std::string(rule), node, where + what});
}

std::vector<Violation> verify(const Graph& graph) {
  std::vector<Violation> found;
  verify_into(graph, graph, 0, found);
  return found;
}

void verify_or_throw(const Graph& graph, std::string_view stage) {
  const std::vector<Violation> found = verify(graph);
  if (found.empty()) return;
  std::string message = "graph '" + graph.name + "' breaks " + std::to_string(found.size()) + " rule(s) of the IR";
  for (size_t i = 0; i < found.size() && i < kMessagesInError; ++i)
    message += "; " + found[i].rule + ": " + found[i].message;
  if (found.size() > kMessagesInError) message += "; ...";
  throw_internal(stage, message);
}

}  // namespace sapwood::graph
