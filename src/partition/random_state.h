#pragma once

#include "partition/joint_view.h"
#include "partition/partition.h"

namespace sapwood::partition {

/// Makes random operators that a checkpoint runs in both parts draw the same numbers twice.
///
/// The forward runs each of them through `higher_order.run_and_save_rng_state` and hands out the state that the
/// generator had before (behind the saved tensors, before the saved symbols); the backward takes it as
/// `rng_state_output_<n>` (before the tangents) and runs the operator through `higher_order.run_with_rng_state`.
/// Concerns the nodes that `view` marks for recomputation and that are in both parts; names as PyTorch gives them.
void replay_random_states(const JointView& view, size_t saved_symbols, ForwardBackward& parts);

}  // namespace sapwood::partition
