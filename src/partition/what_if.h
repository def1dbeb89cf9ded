#pragma once

#include <string>

#include "partition/partition.h"

namespace sapwood::partition {

/// What another plan would be, in which one value may not be saved.
struct WhatIf {
  graph::NodeId node = graph::kNoNode;
  bool possible = false;
  int64_t saved_bytes_now = 0;  ///< that aren't inputs
  int64_t saved_bytes_without = 0;
  std::string text = {};  ///< in a sentence: what is saved and recomputed instead
};

/// Solves the last minimum cut of a decision again with the value never saved and free to be recomputed. `joint`,
/// `plan` and `decision` are as `partition` left them.
WhatIf without_saving(const graph::Graph& joint, const Plan& plan, const PartitionOptions& options,
                      const Decision& decision, graph::NodeId id);

}  // namespace sapwood::partition
