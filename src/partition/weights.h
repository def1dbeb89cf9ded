#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "partition/classify.h"
#include "partition/plan.h"

namespace sapwood::partition {

/// What it costs to hand a value from the forward to the backward.
struct Weight {
  int64_t capacity = 0;
  bool infinite = false;     ///< can't be saved at all
  std::string_view why_not;  ///< why it can't, e.g. "non-tensor output"
};

/// The weight of every value that may be saved, by NodeId: bytes times 1.1 per step of distance from the backward (at
/// most 100 steps), twice that if the value would otherwise live only inside a fused loop; 0 for what is kept in any
/// case.
std::vector<Weight> weigh(const JointView& view, const Classification& classes, const PartitionOptions& options);

}  // namespace sapwood::partition
