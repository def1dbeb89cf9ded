#include "partition/runtime_estimate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/flops.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

/// What the graph was recorded with wins: its producer may know formulas for operators of its own.
double flops(const JointView& view, NodeId id) {
  const graph::Node& node = view.node(id);
  const auto counted = node.meta->flops ? node.meta->flops : ops::count_flops(*view.graph, node);
  return static_cast<double>(std::max<int64_t>(counted.value_or(1), 1));
}

}  // namespace

double estimate_runtime(const JointView& view, NodeId id, const PartitionOptions& options) {
  switch (options.activation_memory_budget_runtime_estimator) {
    case Estimator::kFlops:
      return flops(view, id);
    case Estimator::kTesting:
      return 1;
    case Estimator::kProfile:
    case Estimator::kCustom:
      break;
  }
  const double runtime = options.runtime_of(*view.graph, id);
  if (!(runtime >= 0) || std::isinf(runtime)) {
    throw_user("partition", "the runtime estimator returned no finite, non-negative number for '" + view.node(id).name +
                                "' (" + view.node(id).target + ")");
  }
  return runtime;
}

}  // namespace sapwood::partition
