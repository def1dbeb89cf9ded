#include <cmath>

#include "partition/budget.h"
#include "partition/peak.h"

namespace sapwood::partition {
namespace {

constexpr int kSteps = 20;

int64_t peak_of(const JointView& view, const Decision& decision) {
  const SavedSets sets = settle(view, split_by_kind(view, decision.saved));
  return simulate_peak(view, select_parts(view, sets, Method::kMinCut)).peak();
}

}  // namespace

Decision choose_saved_values(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  BudgetChooser chooser(view, classes, options);
  const double budget = options.activation_memory_budget;
  Decision best = chooser.choose(budget);
  const bool between = budget > 0 && budget < 1;
  if (!between || options.activation_memory_bytes || options.compatibility == Compatibility::kTorch213) return best;
  int64_t lowest = peak_of(view, best);
  for (int step = static_cast<int>(std::floor(budget * kSteps)) + 1; step < kSteps; ++step) {
    Decision other = chooser.choose(static_cast<double>(step) / kSteps);
    const int64_t peak = peak_of(view, other);
    if (peak >= lowest) continue;
    lowest = peak;
    best = std::move(other);
  }
  return best;
}

}  // namespace sapwood::partition
