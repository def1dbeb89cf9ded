#pragma once

#include "graph/graph.h"

namespace sapwood::passes {

/// Drops nodes whose value nothing uses and that have no effect, also in the bodies of higher-order operators.
///
/// Runs before: common_subexpression and partition (dead nodes would be compared, classified and weighed).
/// Because:     the cut sees only live values, and dumps stay short.
/// Returns:     whether the graph changed. Never removes placeholders, outputs or effectful nodes; random operators
/// have no
///              effect here: dropping one shifts no other's numbers, as every draw has its own place in the replayed
///              state.
bool remove_dead_nodes(graph::Graph& graph);

}  // namespace sapwood::passes
