#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "partition/options.h"

namespace sapwood::partition {

/// What it would take to drop a saved value and compute it again from everything else that is saved.
struct Price {
  bool possible = false;    ///< false: it is an input, or something on the way must run once
  int64_t nodes = 0;        ///< calls that the backward would repeat
  double runtime = 0;       ///< of these calls, in the unit of the estimator
  int64_t extra_bytes = 0;  ///< of inputs that would have to be handed over as well
  std::string obstacle;     ///< the node that must run once, if that is why
};

/// A value that the forward hands to the backward.
struct SavedValue {
  graph::NodeId node = graph::kNoNode;
  int64_t bytes = 0;   ///< of the tensor, with hints for symbolic sizes; 0 for a symbol
  std::string reason;  ///< one sentence: why it is saved and not recomputed
  /// An input of the step, a constant of the graph, or in the memory of one: nothing more has to be kept.
  bool is_input = false;
  bool shares_memory = false;  ///< is in the memory of a value that is saved before it
  Price price = {};            ///< of dropping it; tensors only
};

/// A forward value that the backward computes again.
struct RecomputedValue {
  graph::NodeId node = graph::kNoNode;
  int64_t bytes = 0;  ///< bytes that need not be kept because of it
  std::string reason;
};

/// The decision of a partitioner: data that can be printed, compared and checked. Node ids are those of the joint
/// graph.
struct Plan {
  Method method = Method::kMinCut;
  bool graphsafe_rng = true;              ///< how recomputed random operators are replayed; see random_state.h
  std::vector<SavedValue> saved;          ///< tensors, in graph order
  std::vector<SavedValue> saved_objects;  ///< neither tensors nor numbers, after the tensors
  std::vector<SavedValue> saved_symbols;  ///< symbolic sizes, always last
  std::vector<RecomputedValue> recomputed;
  QuantizationOptions quantization;  ///< how `extract` quantizes
  OffloadOptions offload;            ///< how `extract` offloads
  QuantizationReport quantized;      ///< what that comes to
  OffloadReport offloaded;
  int64_t cut_value = 0;        ///< capacity of the minimum cut; 0 for kDefault
  double budget = 1;            ///< the fraction that was decided under
  int64_t peak_bytes = 0;       ///< most alive at once, inputs apart, as `simulate_peak` counts
  bool budget_met = true;       ///< false: what must be kept is more than the bytes allowed
  std::string agreement;        ///< what came of asking the other ranks, in a sentence; empty if nobody was asked
  int64_t saved_bytes() const;  ///< of what isn't an input of the step, each piece of memory once
};

}  // namespace sapwood::partition
