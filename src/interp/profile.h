#pragma once

#include <functional>

#include "graph/graph.h"

namespace sapwood::interp {

/// Milliseconds that one call of a node takes on this machine: the median of several runs on random inputs of the
/// node's shapes, through the dispatcher. Equal calls (operator, arguments, shapes) are measured once. The function
/// returned keeps what it measured; it may be called from one thread at a time. Errors: as `run`.
std::function<double(const graph::Graph& graph, graph::NodeId node)> measured_runtime();

}  // namespace sapwood::interp
