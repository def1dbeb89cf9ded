#pragma once

#include <vector>

#include "graph/verify.h"

namespace sapwood::ops {

/// `graph::verify`, and every call against its operator's schema (the table's, else the one that the graph declares):
/// the schema itself can be read, arguments are known, given once and of the right kind, none is missing, and the value
/// is what the operator returns. Kinds only: whether shapes fit is for the operator to say. O(size of the graph).
std::vector<graph::Violation> verify_all(const graph::Graph& graph);

/// Throws a user error with the first violations if there are any.
void verify_all_or_throw(const graph::Graph& graph, std::string_view stage);

}  // namespace sapwood::ops
