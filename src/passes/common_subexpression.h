#pragma once

#include "graph/graph.h"

namespace sapwood::passes {

/// Merges calls that compute the same value into the first of them.
///
/// Two calls are the same if target, arguments, keyword arguments and their structure are equal; 1, 1.0 and true are
/// three different arguments. Never merged: random operators; `empty` and its relatives; calls whose result shares a
/// storage with an output of the graph (the caller gets separate tensors); calls that bind an unbacked symbol;
/// effectful calls; calls with a mutation between them.
///
/// Runs after:  dead_code. Runs before: partition (the cut counts every value once).
/// Because:     PyTorch's partitioner does, and its decisions depend on it, even on one quirk: it looks calls up by
/// Python's
///              `hash`, under which -1 and -2 collide, and keeps only the first call of each hash. So of `sum(x, -1)`,
///              `sum(x, -2)`, `sum(x, -2)` none are merged. The same is done here: fewer merges are always right.
/// Returns:     whether nodes were merged. Afterwards the users of every node are in graph order, as in a graph built
/// anew. Source:      the behaviour of `fx_graph_cse` in PyTorch 2.13.
bool merge_common_subexpressions(graph::Graph& graph);

/// The same with PyTorch 2.13's own list of what is never merged. It lacks some random operators (`randn_like`,
/// `prims.normal`), most relatives of `empty`, and calls that bind an unbacked symbol: two of those become one.
bool merge_common_subexpressions_as_torch(graph::Graph& graph);

}  // namespace sapwood::passes
