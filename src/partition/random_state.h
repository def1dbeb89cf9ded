#pragma once

#include "partition/joint_view.h"
#include "partition/partition.h"

namespace sapwood::partition {

/// Makes random operators that a checkpoint runs in both parts draw the same numbers twice. Concerns the nodes that
/// `view` marks for recomputation and that are in both parts. Two forms, with the names that PyTorch gives:
///
/// * The state is saved: the forward runs the operator through `higher_order.run_and_save_rng_state` and hands out the
/// state that the generator had before (behind the saved values, before the saved symbols); the backward takes it as
/// `rng_state_output_<n>` (before the tangents) and runs the operator through `higher_order.run_with_rng_state`.
/// * Two generators (`graphsafe`, for operators on an accelerator whose graphs can be captured, and only if all of them
/// are on one such device): both parts run the operator through `higher_order.graphsafe_run_with_rng_state` with
/// generators `fwd_rng_state_<n>` and `bwd_rng_state_<n>`, their last placeholders. Whoever runs them starts both equal
/// and lets each advance once per call.
void replay_random_states(const JointView& view, size_t saved_symbols, bool graphsafe, ForwardBackward& parts);

/// Gives the generators that bodies of `invoke_subgraph` ask for (placeholders named `fwd_rng_state...` in a forward,
/// `bwd_rng_state...` in a backward) placeholders in the part itself, behind its last one, and passes them on.
void thread_generators_through_subgraphs(graph::Graph& part, bool is_backward);

/// Whether the device's random numbers can be replayed inside captured graphs.
bool has_graphsafe_generators(const graph::Device& device);

}  // namespace sapwood::partition
