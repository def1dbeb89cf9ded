#include "passes/dead_code.h"

#include <unordered_map>

#include "ops/op_table.h"

namespace sapwood::passes {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

/// Whether running a call matters beyond its result. Remembers what it knows of each operator.
class Effects {
 public:
  explicit Effects(const Graph& graph) : graph_(graph) {}

  bool keeps(const Node& node) {
    if (node.kind == NodeKind::kPlaceholder || node.kind == NodeKind::kOutput || node.meta->impure) return true;
    return node.kind == NodeKind::kCallFunction && has_effect(node);
  }

  bool draws(const Node& node) const {
    return node.kind == NodeKind::kCallFunction && ops::draws_numbers(ops::describe(graph_, node), node);
  }

 private:
  bool has_effect(const Node& node) {
    const auto known = effects_.find(node.target);
    if (known != effects_.end()) return known->second;
    const ops::OpInfo info = ops::describe(graph_, node);
    return effects_.emplace(node.target, info.effect || info.is_mutable).first->second;
  }

  const Graph& graph_;
  std::unordered_map<std::string, bool> effects_;
};

/// From now on the node runs for its effect on the generator, once, in the part where it is.
void mark_as_effect(graph::NodeMeta& meta) {
  using graph::PartitionerTag;
  meta.impure = true;
  if (meta.partitioner_tag == PartitionerTag::kForward) meta.partitioner_tag = PartitionerTag::kMustBeInForward;
  if (meta.partitioner_tag == PartitionerTag::kBackward) meta.partitioner_tag = PartitionerTag::kMustBeInBackward;
}

bool remove(Graph& graph, bool keep_draws) {
  Effects effects(graph);
  bool changed = false;
  for (NodeId id = graph.last(); id != kNoNode;) {
    const Node& node = graph[id];
    const NodeId previous = node.prev;
    if (node.users.empty() && !effects.keeps(node)) {
      if (keep_draws && effects.draws(node))
        mark_as_effect(graph.meta(id));
      else
        graph.erase(id);
      changed = true;
    }
    id = previous;
  }
  for (const auto& [name, body] : graph.subgraphs)
    if (body && remove(*body, keep_draws)) changed = true;
  return changed;
}

}  // namespace

bool remove_dead_nodes(Graph& graph) { return remove(graph, /*keep_draws=*/false); }

bool remove_dead_nodes_but_draws(Graph& graph) { return remove(graph, /*keep_draws=*/true); }

}  // namespace sapwood::passes
