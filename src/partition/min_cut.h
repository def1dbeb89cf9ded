#pragma once

#include <optional>

#include "partition/bans.h"
#include "partition/conflict.h"
#include "partition/weights.h"

namespace sapwood::partition {

struct MinCutSolution {
  int64_t value = 0;
  std::vector<graph::NodeId> saved;  ///< in graph order; tensors, symbols and objects together
  Bans bans;
  std::vector<Weight> weights;
};

/// The cheapest set of values from which the backward can compute whatever else it needs without breaking a ban.
/// `released` values may be recomputed whatever the rules say; `inputs_free`: inputs cost nothing to save. Errors:
/// unsupported error if there is no such set.
MinCutSolution solve_min_cut(const JointView& view, const Classification& classes, const PartitionOptions& options,
                             const Released& released = {}, bool inputs_free = false);

/// Why there is no such set; none if there is one.
std::optional<Conflict> find_conflict(const graph::Graph& joint, const PartitionOptions& options);

}  // namespace sapwood::partition
