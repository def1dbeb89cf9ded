#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "partition/remap.h"

namespace sapwood::test {

/// The same program as another process may record it, and where each node went.
struct ShuffledGraph {
  graph::Graph graph;
  std::vector<graph::NodeId> moved;  ///< by NodeId of the original
};

/// Renames every node at random, puts independent nodes in another order, inputs and the outputs of each part as well.
inline ShuffledGraph shuffled(const graph::Graph& original, uint32_t seed) {
  using graph::NodeId;
  std::mt19937 random(seed);
  ShuffledGraph result;
  result.moved.assign(original.id_bound(), graph::kNoNode);
  result.graph.symbols = original.symbols;
  result.graph.ops = original.ops;
  result.graph.subgraphs = original.subgraphs;
  result.graph.attributes = original.attributes;
  result.graph.num_forward_outputs = original.num_forward_outputs;
  std::vector<size_t> waits_for(original.id_bound(), 0);
  std::vector<NodeId> inputs;  // placeholders stay in front
  std::vector<NodeId> others;
  for (const NodeId id : original.order()) {
    waits_for[static_cast<size_t>(id)] = original.inputs(id).size();
    if (waits_for[static_cast<size_t>(id)] > 0) continue;
    (original[id].kind == graph::NodeKind::kPlaceholder ? inputs : others).push_back(id);
  }
  std::vector<size_t> numbers(original.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<NodeId> ready;
  while (!inputs.empty() || !ready.empty() || !others.empty()) {
    if (inputs.empty()) ready.insert(ready.end(), others.begin(), others.end()), others.clear();
    std::vector<NodeId>& from = inputs.empty() ? ready : inputs;
    std::swap(from[random() % from.size()], from.back());
    const NodeId id = from.back();
    from.pop_back();
    for (const NodeId user : original[id].users)
      if (--waits_for[static_cast<size_t>(user)] == 0) ready.push_back(user);
    if (original[id].kind == graph::NodeKind::kOutput) continue;
    graph::Node node = original[id];
    node.users.clear();
    partition::remap_nodes(node, [&](NodeId read) { return result.moved[static_cast<size_t>(read)]; });
    const bool tangent = node.target.starts_with("tangents");
    node.name = (tangent ? "tangents_x" : "x") + std::to_string(numbers[result.graph.size()]);
    if (node.kind == graph::NodeKind::kPlaceholder) node.target = node.name;
    result.moved[static_cast<size_t>(id)] = result.graph.add(std::move(node));
  }
  std::vector<NodeId> outputs;
  for (const NodeId id : original.output_values())
    outputs.push_back(id == graph::kNoNode ? id : result.moved[static_cast<size_t>(id)]);
  const auto split = outputs.begin() + original.num_forward_outputs;
  std::shuffle(outputs.begin(), split, random);
  std::shuffle(split, outputs.end(), random);
  result.graph.output(outputs);
  return result;
}

}  // namespace sapwood::test
