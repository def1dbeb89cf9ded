#pragma once

#include "check/part_reader.h"

namespace sapwood::check {

/// Binds the forward's placeholders: the primals, then the forward's seeds, each as in the joint graph; then
/// generators.
void bind_forward_inputs(PairContext& context, PartReader& forward);

/// Binds the backward's placeholders. Tangents and seeds are those of the joint graph, in its order; objects among the
/// primals may come directly. All others are what the forward returns behind the user's outputs: symbols in their
/// order, everything else in its order. Pre: the forward is read.
void bind_backward_inputs(PairContext& context, const PartReader& forward, PartReader& backward);

}  // namespace sapwood::check
