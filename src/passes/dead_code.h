#pragma once

#include "graph/graph.h"

namespace sapwood::passes {

/// Drops nodes whose value nothing uses and that have no effect, also in the bodies of higher-order operators.
///
/// Runs before: common_subexpression and partition (dead nodes would be compared, classified and weighed).
/// Because:     the cut sees only live values, and dumps stay short.
/// Returns:     whether the graph changed. Never removes placeholders, outputs or effectful nodes.
///
/// Random operators have no effect here, as in PyTorch under torch.compile: dropping one shifts later ones' numbers.
bool remove_dead_nodes(graph::Graph& graph);

/// The same for a graph whose random numbers must be eager's: a random operator that nothing reads stays, as an effect
/// that belongs to its part of the step.
bool remove_dead_nodes_but_draws(graph::Graph& graph);

}  // namespace sapwood::passes
