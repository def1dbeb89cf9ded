#pragma once

#include "partition/classify.h"
#include "partition/joint_view.h"

namespace sapwood::partition {

/// Some node is marked for recomputation by the user's checkpointing, before any rule changes that.
bool has_recompute_marks(const graph::Graph& joint);

/// Errors: user error for marks that can't hold: an input that is to be recomputed, a node that must run in the forward
/// but depends on an incoming gradient.
void check_marks(const JointView& view, const Classification& classes);

/// Only the last writes into inputs break the rule that every value is computed once. Checkpointing needs such a graph.
bool is_functional(const JointView& view);

/// Turns the marks of the graph into the policy that the cut obeys:
///
/// * where one checkpointed region reads another's result, that result is saved (the boundary is what checkpointing
/// keeps);
/// * a region's result with a backward hook is saved, since the hook needs it before the region is recomputed;
/// * with `save_region_inputs` (the default partition) what a region reads from outside is saved;
/// * results of collectives and of effectful operators are saved, unless the user marked them for recomputation;
/// * what is copied into an input in the forward is saved if the backward writes to the same input.
void apply_tag_rules(JointView& view, bool save_region_inputs);

}  // namespace sapwood::partition
