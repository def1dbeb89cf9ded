#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::test {

struct GraphPair {
  graph::Graph forward;
  graph::Graph backward;
};

/// The two graphs of a recorded decision. The record names the nodes and, where they differ from the joint graph's,
/// what they read; the rest is the joint graph's. Throws if the record can't be read in that way.
GraphPair recorded_pair(const graph::Graph& joint, const nlohmann::json& decision);

}  // namespace sapwood::test
