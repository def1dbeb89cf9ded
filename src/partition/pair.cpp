#include "partition/pair.h"

#include <algorithm>
#include <set>

#include "graph/text_defaults.h"
#include "ops/op_table.h"

namespace sapwood::partition {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;

PairFacts facts_of(const ForwardBackward& pair) {
  PairFacts facts;
  const Graph& forward = pair.forward;
  facts.user_outputs = forward.num_forward_outputs;
  const std::vector<NodeId> outputs = forward.output_values();
  std::set<std::string, std::less<>> seen;
  for (size_t i = static_cast<size_t>(facts.user_outputs); i < outputs.size(); ++i) {
    if (outputs[i] == kNoNode || !forward[outputs[i]].tensor()) continue;
    if (seen.insert(forward[outputs[i]].name).second) facts.saved.push_back(forward[outputs[i]].name);
  }
  const std::vector<NodeId> inputs = forward.placeholders();
  for (const int64_t index : forward.static_lifetime_inputs)
    if (index >= 0 && index < std::ssize(inputs))
      facts.static_inputs.push_back(forward[inputs[static_cast<size_t>(index)]].name);
  return facts;
}

void set_outputs(Graph& graph, const std::vector<NodeId>& values) {
  graph::ArgumentList list;
  for (const NodeId id : values) list.push_back(id == kNoNode ? graph::Argument() : graph::Argument::node(id));
  graph.set_args(graph.output(), {graph::Argument::list(std::move(list))});
}

NodeId first_behind_placeholders(const Graph& graph) {
  NodeId id = graph.first();
  while (graph[id].kind == NodeKind::kPlaceholder) id = graph[id].next;
  return id;
}

NodeId place_behind(const Graph& graph, NodeId id, NodeId body) {
  return graph[id].kind == NodeKind::kPlaceholder ? body : graph[id].next;
}

void declare_operators(Graph& graph) {
  if (graph.ops.empty()) return;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) {
    const std::string& target = graph[id].target;
    if (graph[id].kind != NodeKind::kCallFunction || graph.ops.contains(target)) continue;
    const ops::OpInfo* info = ops::find_op(target);
    if (!info || !info->schema) continue;  // a Python callable needs no declaration, and others came with theirs
    const auto row = std::ranges::find(ops::all_rows(), target, &ops::OpRow::name);
    graph.ops.emplace(target, graph::OpDecl{std::string(row->schema), {}, info->is_mutable, info->is_view});
  }
}

NodeId add_call(Graph& graph, NodeId before, NewCall call) {
  const NodeId outer = graph.insertion_point();
  graph.set_insertion_point(before);
  const NodeId id = graph.call(call.target, std::move(call.args), std::move(call.value), graph.unique_name(call.name));
  graph.meta(id).tensor_meta = graph::has_tensor(graph[id].val);
  graph.set_insertion_point(outer);
  return id;
}

NodeId add_placeholder_behind(Graph& graph, NodeId old, std::string_view name, graph::Shared<graph::Value> value) {
  const NodeId outer = graph.insertion_point();
  graph.set_insertion_point(graph[old].next);
  const NodeId added = graph.placeholder(name, std::move(value));
  graph.set_meta(added, graph[old].meta);
  graph.set_insertion_point(outer);
  return added;
}

NodeId first_reader(const Graph& graph, NodeId id, const std::vector<int32_t>& positions) {
  const std::vector<NodeId>& users = graph[id].users;
  if (users.empty()) return graph.output();
  return *std::ranges::min_element(users, {}, [&](NodeId user) { return positions[static_cast<size_t>(user)]; });
}

std::vector<int32_t> graph_positions(const Graph& graph) {
  std::vector<int32_t> positions(graph.id_bound(), -1);
  int32_t next = 0;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) positions[static_cast<size_t>(id)] = next++;
  return positions;
}

bool is_tangent_or_seed(const graph::Node& placeholder) {
  const auto mentions = [&](std::string_view part) { return placeholder.target.contains(part); };
  return mentions("tangents") || mentions("bwd_seed") || mentions("bwd_base_offset");
}

}  // namespace sapwood::partition
