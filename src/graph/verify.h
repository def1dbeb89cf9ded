#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::graph {

/// One broken rule. `rule` is a stable short name ("defined-before-use"), `message` says what is wrong and where.
struct Violation {
  std::string rule;
  NodeId node = kNoNode;
  std::string message;
};

/// Checks every invariant of the IR; empty means sound. O(size of the graph). Subgraphs are included.
std::vector<Violation> verify(const Graph& graph);

/// Throws an internal error with the first violations if there are any.
void verify_or_throw(const Graph& graph, std::string_view stage);

/// Hash of the structure: targets, arguments, values and output, not names, not source locations. Equal graphs have
/// equal hashes in every process.
uint64_t structural_hash(const Graph& graph);

}  // namespace sapwood::graph
