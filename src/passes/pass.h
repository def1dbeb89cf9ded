#pragma once

#include <string_view>

#include "graph/graph.h"

namespace sapwood::passes {

/// A step from graph to graph. Its name is stable: options and dumps use it.
struct Pass {
  std::string_view name;
  bool (*run)(graph::Graph& graph);  ///< returns whether the graph changed
};

}  // namespace sapwood::passes
