#pragma once

#include "partition/bans.h"
#include "partition/weights.h"

namespace sapwood::partition {

struct MinCutSolution {
  int64_t value = 0;
  std::vector<graph::NodeId> saved;  ///< in graph order; tensors, symbols and objects together
  Bans bans;
  std::vector<Weight> weights;
};

/// The cheapest set of values from which the backward can compute whatever else it needs without breaking a ban.
/// Errors: unsupported error if there is none.
MinCutSolution solve_min_cut(const JointView& view, const Classification& classes, const PartitionOptions& options);

}  // namespace sapwood::partition
