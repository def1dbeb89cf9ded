#pragma once

#include "partition/joint_view.h"

namespace sapwood::partition {

/// Ends the name of a copy that `take_snapshots` made.
inline constexpr std::string_view kSnapshotSuffix = "_snapshot";
bool is_snapshot(const graph::Node& node);

/// Copies of inputs that the forward overwrites, so that the backward can have what they were. What reads such an input
/// (or a view of it) before the write reads `<name>_snapshot`, a clone directly behind it, which is marked to be saved
/// and never recomputed.
///
/// Runs before: common subexpressions and everything that decides. Because: the writes of a joint graph come last, but
/// in
///              its forward they run before the backward, which would read the new values. PyTorch saves the input
///              itself.
/// Returns:     whether the graph changed.
bool take_snapshots(graph::Graph& joint);

/// Takes back the copies that `saved` doesn't have, unless a write comes between such a copy and what reads it.
void drop_snapshots(graph::Graph& joint, const std::vector<graph::NodeId>& saved);

}  // namespace sapwood::partition
