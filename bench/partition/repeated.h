#pragma once

#include "graph/graph.h"

namespace sapwood::bench {

/// `copies` independent copies of a joint graph in one: all inputs, all forwards, all backwards. Names get the number
/// of the copy in front, and each copy has its own storages.
graph::Graph repeated(const graph::Graph& joint, int copies);

}  // namespace sapwood::bench
