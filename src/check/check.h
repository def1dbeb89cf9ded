#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::check {

/// One proven difference between a joint graph and what a partitioner made of it.
struct Finding {
  std::string rule;     ///< id of a row of `rules()`
  std::string graph;    ///< "joint", "forward", "backward" or "plan"
  std::string node;     ///< name of the node in that graph; empty if the graph as a whole is meant
  std::string message;  ///< one sentence: what is wrong
  std::string remedy;   ///< one sentence: what to do

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// A property that is proven.
struct Rule {
  std::string id;
  std::string description;  ///< one sentence
};

/// Every rule, in the order in which findings are listed.
const std::vector<Rule>& rules();

struct PairOptions {
  /// Saved values may be kept in a smaller type (fp8), so that the backward reads them rounded.
  bool allow_quantized = true;
  /// Saved values may wait in the memory of another device.
  bool allow_offload = true;
};

/// Proves that a forward and a backward graph together do what the joint graph does. Empty: they do. The joint graph is
/// in the form in which AOTAutograd hands it out; the pair may come from any partitioner. Every value of the pair is
/// identified with a value of the joint graph by what it computes, names only tell equal draws and effects apart.
///
/// Allowed are: merged equal subexpressions, recomputation of pure values (also on fresh memory that is then written),
/// random operators replayed from their state, assertions and waits that run twice, results of collectives that nobody
/// reads being dropped, saved values that are offloaded or quantised in PyTorch's manner.
///
/// Findings come in the order of the rules, then in graph order; consequences of a finding aren't listed again. O(size
/// of the three graphs). Errors: none; a graph that is damaged gives findings of the rule "well-formed" and nothing
/// else.
std::vector<Finding> check_pair(const graph::Graph& joint, const graph::Graph& forward, const graph::Graph& backward,
                                const PairOptions& options = {});

/// A plan by names of the joint graph.
struct PlanFacts {
  std::vector<std::string> saved = {};          ///< values other than symbols
  std::vector<std::string> saved_symbols = {};  ///< symbolic sizes, floats, truth values
  /// Empty: whatever isn't saved. Otherwise it has every value that both the forward's own results and the backward
  /// need and that isn't saved.
  std::vector<std::string> recomputed = {};
  std::vector<std::string> offloaded = {};  ///< those of `saved` that wait on another device
};

/// Proves that a pair of graphs can be made from a plan: every name exists and is a forward value, and the backward's
/// results can be computed from what is saved, the tangents, and values that may be computed twice. Empty: it can.
/// Errors: none. O(size of the graph and of the plan).
std::vector<Finding> check_plan(const graph::Graph& joint, const PlanFacts& plan);

/// "forward, node 'mul_3' [outputs-equal]: message Remedy: remedy"
std::string describe(const Finding& finding);

/// {"rule", "graph", "node", "message", "remedy"}
nlohmann::ordered_json to_json(const Finding& finding);

}  // namespace sapwood::check
