#pragma once

#include <ATen/core/stack.h>

#include "graph/node.h"

namespace sapwood::interp {

/// Runs a `_c10d_functional` operator as in a world of one rank, where sums are copies: takes the arguments off the
/// stack and leaves the results. Returns false, with the stack as it was, for any other operator. Errors: user error,
/// naming the node, for a group of more than one rank; unsupported for a collective that isn't implemented.
bool call_single_rank(const graph::Node& node, torch::jit::Stack& stack);

}  // namespace sapwood::interp
