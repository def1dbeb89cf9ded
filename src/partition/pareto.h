#pragma once

#include <string>
#include <vector>

#include "partition/partition.h"

namespace sapwood::partition {

/// What a budget gives.
struct ParetoPoint {
  double budget = 0;
  int64_t saved_bytes = 0;       ///< that aren't inputs of the step
  int64_t peak_bytes = 0;        ///< most alive during forward and backward, inputs apart
  double recompute_runtime = 0;  ///< of what the backward repeats, in the unit of the estimator
  int64_t recomputed = 0;        ///< calls that the backward repeats
};

/// Plans for budgets from 0 to 1: the ends, and between two that differ the middle, until they are closer than
/// `kParetoStep`. Sorted by budget, each once; of neighbours with equal plans the inner ones are left out.
/// Errors: as `partition`.
std::vector<ParetoPoint> pareto_sweep(const graph::Graph& joint, const PartitionOptions& options);
inline constexpr double kParetoStep = 1e-3;

/// The curve as a picture: saved bytes to the right, recomputation upwards, a label per step of the budget.
std::string pareto_svg(const std::vector<ParetoPoint>& points, const std::string& title, Estimator estimator);

}  // namespace sapwood::partition
