#pragma once

#include "partition/extract.h"

namespace sapwood::partition {

/// Bytes alive while two parts run one after the other, hints standing for symbols. What the step gets from outside
/// (inputs, tangents) isn't counted: it lives as long as its owner wants. Views live in their base's memory.
struct PeakMemory {
  int64_t forward = 0;   ///< most during the forward
  int64_t between = 0;   ///< of what the forward leaves: its outputs and what it saves
  int64_t backward = 0;  ///< most during the backward; what it saved dies with its last reader
  int64_t peak() const { return forward > backward ? forward : backward; }
};

/// Plays both parts in their order. O(nodes and arguments).
PeakMemory simulate_peak(const JointView& view, const Parts& parts);

}  // namespace sapwood::partition
