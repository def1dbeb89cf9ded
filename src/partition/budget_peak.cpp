#include "partition/budget.h"
#include "partition/peak.h"
#include "partition/runtime_estimate.h"

namespace sapwood::partition {
namespace {

constexpr int kSteps = 20;

/// What a decision needs and repeats.
struct Outcome {
  int64_t peak = 0;
  double recomputation = 0;

  /// Better under a limit: keeps it, then repeats less, then needs less.
  bool beats(const Outcome& other, int64_t limit) const {
    if (peak > limit || other.peak > limit) return peak < other.peak;
    return recomputation != other.recomputation ? recomputation < other.recomputation : peak < other.peak;
  }
};

Outcome outcome_of(const JointView& view, const PartitionOptions& options, const Decision& decision) {
  const SavedSets sets = settle(view, split_by_kind(view, decision.saved));
  const Parts parts = select_parts(view, sets, Method::kMinCut);
  Outcome outcome;
  outcome.peak = simulate_peak(view, parts).peak();
  for (const graph::NodeId id : parts.backward.nodes) {
    const bool repeated = view.is_call(id) && parts.forward.keeps(id);
    if (repeated && !view.is_view(id) && !view.is_getitem(id) && !view.is_symbol(id))
      outcome.recomputation += estimate_runtime(view, id, options);
  }
  return outcome;
}

}  // namespace

Decision choose_saved_values(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  BudgetChooser chooser(view, classes, options);
  if (!options.activation_memory_peak_bytes) return chooser.choose(options.activation_memory_budget);
  const int64_t limit = *options.activation_memory_peak_bytes;
  Decision best = chooser.choose(1);
  Outcome lowest = outcome_of(view, options, best);
  for (int step = kSteps - 1; step >= 0; --step) {
    Decision other = chooser.choose(static_cast<double>(step) / kSteps);
    const Outcome outcome = outcome_of(view, options, other);
    if (!outcome.beats(lowest, limit)) continue;
    lowest = outcome;
    best = std::move(other);
  }
  return best;
}

}  // namespace sapwood::partition
