#pragma once

#include "partition/joint_view.h"
#include "partition/options.h"

namespace sapwood::partition {

/// What recomputing the node costs, in the unit of the estimator: floating point operations (at least 1), milliseconds,
/// or what the user's function says. Errors: user error if a user's function returns a negative number or none.
double estimate_runtime(const JointView& view, graph::NodeId id, const PartitionOptions& options);

}  // namespace sapwood::partition
