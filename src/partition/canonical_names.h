#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "graph/graph.h"

namespace sapwood::partition {

/// Names of the nodes of a graph that don't depend on how the graph names and orders them.
struct CanonicalNames {
  std::vector<graph::NodeId> order;  ///< `order[i]` is the node with the name "node_<i>"
  std::vector<int32_t> index;        ///< by NodeId; -1: not in the graph
  Hash128 hash;                      ///< of the graph under these names: equal hashes mean equal graphs

  /// "node_<i>". Pre: the node is in the graph.
  std::string name(graph::NodeId id) const;
  /// The node with this name, kNoNode if there is none.
  graph::NodeId find(std::string_view name) const;
  bool contains(graph::NodeId id) const {
    return id >= 0 && id < std::ssize(index) && index[static_cast<size_t>(id)] >= 0;
  }
};

/// Names every node so that ranks that recorded the same program in another order, or with other names, name it alike.
///
/// What counts: operators, who reads what at which place, tags and checkpoint marks, dtypes, items of tuples, whether
/// an output belongs to the forward. What doesn't, since ranks may differ in it: names, order of independent nodes,
/// order of inputs and outputs, sizes and other numbers, devices, texts (names of process groups), names of attributes.
/// Nodes that nothing else tells apart (two slices of one value) come in the order of their numbers, then of the graph.
///
/// Kahn's algorithm with a heap, as PyTorch 2.13's `_canonical_node_names`; the hashes are ours, so the names are not
/// PyTorch's. Where PyTorch's keys are equal it takes nodes in the rank's own order; here the hash of a node covers
/// everything before and behind it, and nodes that are still equal are told apart by choosing one after the other.
/// After 32 choices graph order decides: then equal graphs may get different names, and so different hashes; different
/// graphs never get equal ones. The same in every process and on every little-endian machine. O((nodes + uses) log).
CanonicalNames canonical_names(const graph::Graph& graph);

}  // namespace sapwood::partition
