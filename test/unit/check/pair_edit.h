#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "unit/check/recorded_pair.h"

namespace sapwood::test {

/// A joint graph and a right pair of it, to be made wrong.
struct Subject {
  std::string name;
  graph::Graph joint;
  GraphPair pair;

  size_t user_outputs() const { return static_cast<size_t>(joint.num_forward_outputs); }
};

using Random = std::mt19937_64;

/// A random permutation of 0 .. count-1.
std::vector<size_t> shuffled(size_t count, Random& random);

void set_outputs(graph::Graph& graph, const std::vector<graph::NodeId>& values);

/// Whether two nodes of a graph can't be the same expression: different operators, different inputs, or values of
/// different types. Only such nodes may be exchanged by a mutation: exchanging equal ones changes nothing.
bool surely_different(const graph::Graph& graph, graph::NodeId a, graph::NodeId b);

bool same_type(const graph::Node& a, const graph::Node& b);
bool is_symbol(const graph::Node& node);

/// Calls of the graph in random order.
std::vector<graph::NodeId> shuffled_calls(const graph::Graph& graph, Random& random);

/// Placeholders of the backward that the forward hands over, symbols apart from the rest.
std::vector<graph::NodeId> handed_over(const Subject& subject, bool symbols);

/// Takes the value of `name` out of what the forward hands over.
void drop_from_tail(GraphPair& pair, size_t user_outputs, const std::string& name);

/// Hands one more value of the forward over; returns the backward's placeholder, the old one if there is one.
graph::NodeId hand_over(GraphPair& pair, std::string name);

/// Copies the call `name` of the forward into the backward, before `before`, and what it needs down to values that are
/// there. Inputs of the forward are handed over. Gives up behind `limit` copies.
std::optional<graph::NodeId> recompute(GraphPair& pair, std::string name, graph::NodeId before, int& limit);

/// A copy of a call directly behind it, under another name.
graph::NodeId duplicate(graph::Graph& graph, graph::NodeId id);

}  // namespace sapwood::test
