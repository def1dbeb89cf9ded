#pragma once

#include <vector>

#include "partition/selection.h"

namespace sapwood::partition {

/// Orders the backward as autograd's engine would run it: each gradient pulls in what it needs just before it, so that
/// recomputed values live shortly. Unchanged if nothing reads a tangent.
void order_like_autograd(const JointView& view, Selection& backward);

/// Moves every getitem directly behind the operator whose result it takes apart.
void raise_getitems(const JointView& view, Selection& selection);

/// Drops collectives whose results nothing reads.
void drop_dead_collectives(const JointView& view, Selection& selection);

}  // namespace sapwood::partition
