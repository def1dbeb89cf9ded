#pragma once

#include <vector>

#include "partition/saved_values.h"

namespace sapwood::partition {

/// What the default partition saves: every forward tensor that the backward reads, as autograd would, except what a
/// checkpoint policy marks for recomputation. Where the backward reads only the sizes of a tensor, the sizes are saved.
/// Errors: unsupported error for a forward value that isn't a tensor and that only the backward takes apart, and for an
/// operator with an effect in a graph with checkpointing.
SavedSets choose_default(const JointView& view);

/// What a backward that recomputes nothing but views and constants needs. A view isn't saved if its base can be: they
/// share memory.
std::vector<graph::NodeId> choose_all_but_free(const JointView& view, const Classification& classes);

/// Recomputing the value passes over no memory: a view, or a constant made from nothing.
bool is_free_to_recompute(const JointView& view, graph::NodeId id);

}  // namespace sapwood::partition
