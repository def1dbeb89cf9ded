#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "partition/partition.h"

namespace sapwood::partition {

/// What a transformation has to know of a pair besides its graphs.
struct PairFacts {
  std::vector<std::string> saved;          ///< values that the forward hands to the backward
  std::vector<std::string> static_inputs;  ///< inputs whose memory outlives the step, e.g. parameters
  int64_t user_outputs = 0;                ///< leading outputs of the forward that are the caller's
};

/// The facts of a pair that `extract` made: the saved tensors are the forward's outputs behind the user's.
PairFacts facts_of(const ForwardBackward& pair);

/// Replaces what the graph returns; the output node keeps its place and its facts. Descriptions of outputs, where there
/// are any, must be kept right by the caller. Pre: the graph has an output node.
void set_outputs(graph::Graph& graph, const std::vector<graph::NodeId>& values);

/// The first node that is no placeholder. Pre: the graph has an output node.
graph::NodeId first_behind_placeholders(const graph::Graph& graph);

/// The node before which something that reads `id` can be put: the one behind `id`, or `body` if `id` is a placeholder.
/// With the same `body` (the first node that was no placeholder at the start) things stay in the order of their
/// putting.
graph::NodeId place_behind(const graph::Graph& graph, graph::NodeId id, graph::NodeId body);

/// A graph that declares the operators that it calls gets the declarations of those added since, from the operator
/// table. Errors: internal error for an operator without a row.
void declare_operators(graph::Graph& graph);

/// A call to add to a graph.
struct NewCall {
  std::string name;  ///< gets a number behind it if it is taken
  std::string target;
  graph::ArgumentList args;
  graph::Shared<graph::Value> value;
};

/// Adds a call before `before`, marked as one with tensor metadata if it yields a tensor.
graph::NodeId add_call(graph::Graph& graph, graph::NodeId before, NewCall call);

/// Adds a placeholder directly behind another one, with its facts. Errors: internal error if the name is taken, since
/// the two graphs of a pair speak of one value by one name.
graph::NodeId add_placeholder_behind(graph::Graph& graph, graph::NodeId old, std::string_view name,
                                     graph::Shared<graph::Value> value);

/// The reader of `id` that comes first, by a table of positions; the output node if nothing reads it.
graph::NodeId first_reader(const graph::Graph& graph, graph::NodeId id, const std::vector<int32_t>& positions);

/// Index in graph order, by NodeId.
std::vector<int32_t> graph_positions(const graph::Graph& graph);

/// Whether a placeholder of a backward is an incoming gradient, or a seed of its random numbers: what the forward
/// doesn't hand over.
bool is_tangent_or_seed(const graph::Node& placeholder);

}  // namespace sapwood::partition
