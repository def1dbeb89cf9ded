#pragma once

#include <vector>

#include "partition/plan.h"
#include "partition/saved_values.h"
#include "partition/selection.h"

namespace sapwood::partition {

/// The two parts of a graph as nodes of the joint graph, each in its final order.
struct Parts {
  Selection forward;
  Selection backward;
};

/// What a plan hands over.
SavedSets saved_sets(const Plan& plan);

/// Splits a graph for what is handed over. `view` has the tag rules applied. Errors: internal error naming an output
/// that can't be computed.
Parts select_parts(const JointView& view, const SavedSets& sets, Method method);

/// Orders the backward as autograd's engine would run it: each gradient pulls in what it needs just before it, so that
/// recomputed values live shortly. Unchanged if nothing reads a tangent.
void order_like_autograd(const JointView& view, Selection& backward);

/// Moves every getitem directly behind the operator whose result it takes apart.
void raise_getitems(const JointView& view, Selection& selection);

/// Drops collectives whose results nothing reads.
void drop_dead_collectives(const JointView& view, Selection& selection);

}  // namespace sapwood::partition
