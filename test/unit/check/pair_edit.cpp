#include "unit/check/pair_edit.h"

#include <algorithm>

namespace sapwood::test {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

std::vector<size_t> shuffled(size_t count, Random& random) {
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  return order;
}

void set_outputs(Graph& graph, const std::vector<NodeId>& values) {
  graph.set_insertion_point(kNoNode);
  graph.erase(graph.output());
  graph.output(values);
}

bool same_type(const Node& a, const Node& b) {
  const auto* x = a.tensor();
  const auto* y = b.tensor();
  return x && y && x->dtype == y->dtype && x->shape == y->shape && x->device == y->device && x->stride == y->stride;
}

bool is_symbol(const Node& node) {
  return node.val && (node.val->as<graph::SymIntValue>() || node.val->as<graph::SymFloatValue>() ||
                      node.val->as<graph::SymBoolValue>());
}

bool surely_different(const Graph& graph, NodeId a, NodeId b) {
  if (a == b || a == kNoNode || b == kNoNode) return false;
  const Node& x = graph[a];
  const Node& y = graph[b];
  if (x.kind == NodeKind::kPlaceholder && y.kind == NodeKind::kPlaceholder) return true;
  if (x.kind != y.kind || x.target != y.target) return true;
  return x.tensor() && y.tensor() && !same_type(x, y);
}

std::vector<NodeId> shuffled_calls(const Graph& graph, Random& random) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order())
    if (graph[id].kind == NodeKind::kCallFunction) calls.push_back(id);
  std::ranges::shuffle(calls, random);
  return calls;
}

std::vector<NodeId> handed_over(const Subject& subject, bool symbols) {
  std::vector<NodeId> found;
  const std::vector<NodeId> outputs = subject.pair.forward.output_values();
  for (const NodeId id : subject.pair.backward.placeholders()) {
    const Node& node = subject.pair.backward[id];
    const NodeId source = subject.pair.forward.find(node.name);
    const bool is_returned = source != kNoNode && std::find(outputs.begin() + subject.joint.num_forward_outputs,
                                                            outputs.end(), source) != outputs.end();
    if (is_returned && is_symbol(node) == symbols) found.push_back(id);
  }
  return found;
}

void drop_from_tail(GraphPair& pair, size_t user_outputs, const std::string& name) {
  std::vector<NodeId> outputs = pair.forward.output_values();
  const auto first = outputs.begin() + static_cast<std::ptrdiff_t>(user_outputs);
  const auto found = std::find(first, outputs.end(), pair.forward.find(name));
  if (found != outputs.end()) outputs.erase(found);
  set_outputs(pair.forward, outputs);
}

NodeId hand_over(GraphPair& pair, std::string name) {
  if (const NodeId there = pair.backward.find(name); there != kNoNode) return there;
  const NodeId source = pair.forward.find(name);
  std::vector<NodeId> outputs = pair.forward.output_values();
  outputs.push_back(source);
  set_outputs(pair.forward, outputs);
  NodeId behind = kNoNode;
  for (const NodeId id : pair.backward.order())
    if (behind == kNoNode && pair.backward[id].kind != NodeKind::kPlaceholder) behind = id;
  pair.backward.set_insertion_point(behind);
  const NodeId added = pair.backward.placeholder(name, pair.forward[source].val);
  pair.backward.set_meta(added, pair.forward[source].meta);
  pair.backward.set_insertion_point(kNoNode);
  return added;
}

namespace {

void remap(Argument& argument, const std::vector<std::pair<NodeId, NodeId>>& map) {
  const auto each = [&](graph::ArgumentList& items) {
    for (Argument& item : items) remap(item, map);
  };
  if (auto* node = argument.as<graph::NodeArg>())
    node->id = std::ranges::find(map, node->id, &std::pair<NodeId, NodeId>::first)->second;
  if (auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
}

bool stands_before(const Graph& graph, NodeId id, NodeId other) {
  for (NodeId at = graph[other].prev; at != kNoNode; at = graph[at].prev)
    if (at == id) return true;
  return false;
}

}  // namespace

// The name is a copy: nodes move in memory while the graphs grow.
std::optional<NodeId> recompute(GraphPair& pair, std::string name, NodeId before, int& limit) {
  if (const NodeId there = pair.backward.find(name); there != kNoNode)
    return stands_before(pair.backward, there, before) ? std::optional(there) : std::nullopt;
  const NodeId source = pair.forward.find(name);
  if (source == kNoNode || --limit < 0) return std::nullopt;
  if (pair.forward[source].kind == NodeKind::kPlaceholder) return hand_over(pair, name);
  std::vector<std::pair<NodeId, NodeId>> map;
  for (const NodeId read : pair.forward.inputs(source)) {
    const auto copy = recompute(pair, pair.forward[read].name, before, limit);
    if (!copy) return std::nullopt;
    map.emplace_back(read, *copy);
  }
  Node copy = pair.forward[source];
  copy.users.clear();
  for (Argument& argument : copy.args) remap(argument, map);
  for (auto& [key, argument] : copy.kwargs) remap(argument, map);
  if (const auto op = pair.forward.ops.find(copy.target); op != pair.forward.ops.end()) pair.backward.ops.insert(*op);
  pair.backward.set_insertion_point(before);
  const NodeId added = pair.backward.add(std::move(copy));
  pair.backward.set_insertion_point(kNoNode);
  return added;
}

NodeId duplicate(Graph& graph, NodeId id) {
  Node copy = graph[id];
  copy.users.clear();
  copy.name = graph.unique_name(copy.name + "_twice");
  graph.set_insertion_point(graph[id].next);
  const NodeId added = graph.add(std::move(copy));
  graph.set_insertion_point(kNoNode);
  return added;
}

}  // namespace sapwood::test
