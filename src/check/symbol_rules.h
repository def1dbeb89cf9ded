#pragma once

#include "check/pair_context.h"

namespace sapwood::check {

/// Every symbol in a value or an argument of a part is bound: it is the value of a placeholder, a size of a tensor
/// placeholder, or made by a node of the part (`unbacked_bindings`, or a data-dependent number). Reports each symbol
/// once, at the first node that needs it.
void check_symbols(PairContext& context, const graph::Graph& part, Part which);

}  // namespace sapwood::check
