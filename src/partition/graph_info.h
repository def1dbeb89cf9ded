#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "partition/joint_view.h"

namespace sapwood::partition {

/// A graph of names, as the evaluation of memory budgets sees it. Edges are sorted by their ends' places in `nodes`.
struct NameGraph {
  std::vector<std::string> nodes;
  std::vector<std::pair<std::string, std::string>> edges;
};

/// What a GraphInfo is made from. Give either the maps, or the lists (one entry per candidate).
struct GraphInfoInput {
  NameGraph graph;  ///< nodes in graph order
  std::vector<std::string> candidates;
  std::optional<std::unordered_map<std::string, double>> runtimes;
  std::optional<std::unordered_map<std::string, double>> memories;
  std::vector<double> recorded_memories;
  std::vector<double> recorded_runtimes;
};

/// Names, edges, memory and runtime of a joint graph, and the graphs between the candidates of a memory budget.
class GraphInfo {
 public:
  /// Errors: user error if neither a map nor a list gives the memory or the runtime of a candidate.
  explicit GraphInfo(GraphInfoInput input);

  /// From a joint graph and what the knapsack was asked. Named `inialize_from_graph` in PyTorch.
  static GraphInfo from_joint(const JointView& view, const std::vector<graph::NodeId>& candidates,
                              const std::vector<double>& memories, const std::vector<double>& runtimes);

  const std::vector<std::string>& candidates() const { return input_.candidates; }
  double memory(const std::string& candidate) const { return memories_.at(candidate); }
  double runtime(const std::string& candidate) const { return runtimes_.at(candidate); }
  double total_memory() const;   ///< of all candidates: the peak if all are kept
  double total_runtime() const;  ///< of all candidates: what recomputing all costs
  /// The recorded list if there is one, else the map's values in candidate order.
  std::vector<double> knapsack_memory() const;
  std::vector<double> knapsack_runtime() const;

  /// Edges that join two candidates directly.
  NameGraph candidate_graph() const;
  /// An edge from a to b if b can be reached from a, but from no candidate on the way.
  NameGraph candidate_graph_with_context() const;
  /// Everything but the node named "output".
  NameGraph full_graph() const;
  /// The same names and edges as a graph: nodes that read nothing become placeholders, the others calls of
  /// `operator.identity`. Errors: user error naming an edge to a node that doesn't exist.
  graph::Graph pseudo_graph() const;

 private:
  GraphInfoInput input_;
  std::unordered_map<std::string, double> memories_;
  std::unordered_map<std::string, double> runtimes_;
};

}  // namespace sapwood::partition
