#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "partition/options.h"

namespace sapwood::partition {

/// A value that the forward hands to the backward.
struct SavedValue {
  graph::NodeId node = graph::kNoNode;
  int64_t bytes = 0;      ///< of the tensor, with hints for symbolic sizes; 0 for a symbol
  std::string reason;     ///< one sentence: why it is saved and not recomputed
  bool is_input = false;  ///< an input of the step (or a constant of the graph): nothing more has to be kept
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
  int64_t cut_value = 0;        ///< capacity of the minimum cut; 0 for kDefault
  int64_t saved_bytes() const;  ///< of what isn't an input of the step
};

}  // namespace sapwood::partition
