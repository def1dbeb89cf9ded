#pragma once

#include <string>

#include "graph/graph.h"

namespace sapwood::cli {

/// The graph in graphviz's language: a box per node with name, operator and type, an arrow per use.
std::string diagram(const graph::Graph& graph);

/// "float32[32, 10]", "(float32[4], int64[4])", "symint", or empty without metadata. For people: shapes, no strides.
std::string short_type(const graph::Node& node);

}  // namespace sapwood::cli
