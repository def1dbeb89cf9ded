#pragma once

#include "partition/classify.h"
#include "partition/plan.h"

namespace sapwood::partition {

/// What dropping each of the plan's saved tensors would take, the others kept. A walk back from each value to what is
/// saved, cut off after `kMostPricedNodes` calls: whoever repeats that much doesn't ask for the last digit.
void price_saved_values(const JointView& view, const PartitionOptions& options, Plan& plan);
inline constexpr int64_t kMostPricedNodes = 1000;

}  // namespace sapwood::partition
