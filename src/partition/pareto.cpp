#include "partition/pareto.h"

#include <algorithm>

#include "partition/peak.h"
#include "partition/runtime_estimate.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;

bool same_plan(const ParetoPoint& a, const ParetoPoint& b) {
  return a.saved_bytes == b.saved_bytes && a.recompute_runtime == b.recompute_runtime && a.recomputed == b.recomputed;
}

/// Asks for budgets and remembers the answers.
class Sweep {
 public:
  Sweep(const Graph& joint, const PartitionOptions& options) : joint_(joint), options_(options) {
    options_.method = Method::kMinCut;
    options_.activation_memory_bytes.reset();
  }

  std::vector<ParetoPoint> run() {
    const ParetoPoint low = point(0);
    const ParetoPoint high = point(1);
    points_ = {low, high};
    std::vector<std::pair<ParetoPoint, ParetoPoint>> open;
    if (!same_plan(low, high)) open.emplace_back(low, high);
    while (!open.empty()) {
      const auto [left, right] = open.back();
      open.pop_back();
      if (right.budget - left.budget < kParetoStep) continue;
      const ParetoPoint middle = point((left.budget + right.budget) / 2);
      points_.push_back(middle);
      if (!same_plan(left, middle)) open.emplace_back(left, middle);
      if (!same_plan(middle, right)) open.emplace_back(middle, right);
    }
    return ends_of_runs();
  }

 private:
  ParetoPoint point(double budget) {
    Graph joint = joint_;
    options_.activation_memory_budget = budget;
    const Plan plan = partition(joint, options_);
    JointView view = view_joint(joint, true);
    apply_tag_rules(view, plan.method == Method::kDefault);
    ParetoPoint result;
    result.budget = budget;
    result.saved_bytes = plan.saved_bytes();
    result.peak_bytes = simulate_peak(view, select_parts(view, saved_sets(plan), plan.method)).peak();
    for (const RecomputedValue& value : plan.recomputed) {
      if (view.is_view(value.node) || view.is_getitem(value.node) || view.is_symbol(value.node)) continue;
      result.recompute_runtime += estimate_runtime(view, value.node, options_);
      ++result.recomputed;
    }
    return result;
  }

  /// Of a run of budgets with one plan the first and the last.
  std::vector<ParetoPoint> ends_of_runs() {
    std::ranges::sort(points_, {}, &ParetoPoint::budget);
    std::vector<ParetoPoint> kept;
    for (size_t i = 0; i < points_.size(); ++i) {
      const bool inner = i > 0 && i + 1 < points_.size() && same_plan(points_[i - 1], points_[i]) &&
                         same_plan(points_[i], points_[i + 1]);
      if (!inner) kept.push_back(points_[i]);
    }
    return kept;
  }

  const Graph& joint_;
  PartitionOptions options_;
  std::vector<ParetoPoint> points_;
};

}  // namespace

std::vector<ParetoPoint> pareto_sweep(const Graph& joint, const PartitionOptions& options) {
  return Sweep(joint, options).run();
}

}  // namespace sapwood::partition
