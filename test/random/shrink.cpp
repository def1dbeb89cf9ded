#include <algorithm>

#include "graph/verify.h"
#include "random/joint_graphs.h"

namespace sapwood::test {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;

/// What a value is, but for its memory: a value of the same kind can stand for it.
graph::Value without_memory(graph::Value value) {
  if (auto* tensor = value.as<graph::TensorMeta>()) {
    tensor->storage = 0;
    tensor->offset = graph::SymExpr(0);
    tensor->storage_bytes = graph::SymExpr(0);
    tensor->stride.reset();
  }
  return value;
}

bool same_kind(const Graph& g, NodeId a, NodeId b) {
  return g[a].val && g[b].val && without_memory(*g[a].val) == without_memory(*g[b].val);
}

bool is_tangent(const graph::Node& node) { return node.target.contains("tangents"); }

void set_outputs(Graph& g, const std::vector<NodeId>& values) {
  graph::ArgumentList items;
  for (const NodeId id : values) items.push_back(id == kNoNode ? graph::Argument() : graph::Argument::node(id));
  g.set_args(g.output(), {graph::Argument::list(std::move(items))});
}

void drop_output(Graph& g, size_t index) {
  std::vector<NodeId> values = g.output_values();
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(index));
  if (static_cast<int64_t>(index) < g.num_forward_outputs) --g.num_forward_outputs;
  set_outputs(g, values);
}

void erase_input(Graph& g, NodeId id) {
  int64_t index = 0;
  for (const NodeId other : g.placeholders()) {
    if (other == id) break;
    if (!is_tangent(g[other])) ++index;
  }
  if (!is_tangent(g[id])) {
    std::erase(g.static_lifetime_inputs, index);
    for (int64_t& at : g.static_lifetime_inputs)
      if (at > index) --at;
  }
  g.erase(id);
}

void erase_unread(Graph& g, NodeId id) { g[id].kind == NodeKind::kPlaceholder ? erase_input(g, id) : g.erase(id); }

/// Makes an input of a node: its part of the graph goes.
void cut_off(Graph& g, NodeId id) {
  NodeId first_other = g.first();
  while (g[first_other].kind == NodeKind::kPlaceholder && !is_tangent(g[first_other]))
    first_other = g[first_other].next;
  g.set_insertion_point(first_other);  // behind the primals, so that their numbers stay
  const NodeId input = g.placeholder(g.unique_name("primals_cut"), g[id].val);
  g.set_insertion_point(kNoNode);
  g.meta(input).partitioner_tag = graph::PartitionerTag::kForward;
  g.replace_all_uses(id, input);
  g.erase(id);
}

/// Tries one change after the other and keeps those after which the defect still shows.
class Shrinker {
 public:
  Shrinker(Graph graph, const std::function<bool(const Graph&)>& fails) : graph_(std::move(graph)), fails_(fails) {}

  Graph run() {
    while (pass()) {
    }
    return std::move(graph_);
  }

 private:
  template <typename Change>
  bool attempt(Change change) {
    Graph smaller = graph_;
    change(smaller);
    if (!graph::verify(smaller).empty() || !fails_(smaller)) return false;
    graph_ = std::move(smaller);
    return true;
  }

  /// Whether anything became smaller.
  bool pass() {
    bool changed = false;
    for (size_t i = graph_.output_values().size(); i-- > 0;) changed = shrink_output(i) || changed;
    std::vector<NodeId> order = graph_.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id)
      if (!graph_[*id].erased && graph_[*id].kind != NodeKind::kOutput) changed = shrink_node(*id) || changed;
    return changed;
  }

  bool shrink_output(size_t i) {
    if (attempt([i](Graph& g) { drop_output(g, i); })) return true;
    std::vector<NodeId> values = graph_.output_values();
    if (values[i] == kNoNode) return false;
    const NodeId returned = values[i];
    values[i] = kNoNode;
    if (attempt([&](Graph& g) { set_outputs(g, values); })) return true;
    for (const NodeId read : graph_.inputs(returned)) {  // earlier in the graph, so this comes to an end
      values[i] = read;
      if (attempt([&](Graph& g) { set_outputs(g, values); })) return true;
    }
    return false;
  }

  bool shrink_node(NodeId id) {
    if (graph_[id].users.empty()) return attempt([id](Graph& g) { erase_unread(g, id); });
    if (graph_[id].kind == NodeKind::kPlaceholder) return false;
    for (const NodeId read : graph_.inputs(id)) {
      if (!same_kind(graph_, id, read)) continue;
      if (attempt([id, read](Graph& g) {
            g.replace_all_uses(id, read);
            g.erase(id);
          }))
        return true;
    }
    return attempt([id](Graph& g) { cut_off(g, id); });
  }

  Graph graph_;
  const std::function<bool(const Graph&)>& fails_;
};

}  // namespace

Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails) {
  return Shrinker(std::move(graph), fails).run();
}

}  // namespace sapwood::test
