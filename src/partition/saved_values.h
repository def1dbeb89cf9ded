#pragma once

#include <vector>

#include "partition/classify.h"

namespace sapwood::partition {

/// What the forward hands over, apart by kind.
struct SavedSets {
  std::vector<graph::NodeId> tensors;
  std::vector<graph::NodeId> objects;  ///< what is neither tensor nor number
  std::vector<graph::NodeId> symbols;
};

/// Splits a cut. Symbols that only assertions read are dropped.
SavedSets split_by_kind(const JointView& view, const std::vector<graph::NodeId>& chosen);

/// Brings the sets into the form in which they are handed over: what the backward doesn't read is dropped; every
/// symbol in the shape of something handed over is bound; tensors whose version isn't checked come last.
SavedSets settle(const JointView& view, SavedSets chosen);

/// Placeholders of the backward besides what is saved: tangents, then its random seeds.
std::vector<graph::NodeId> backward_only_inputs(const JointView& view);

/// All placeholders of the backward, in order: symbols, tensors, objects, tangents, seeds, states of compiled hooks.
std::vector<graph::NodeId> backward_inputs(const JointView& view, const SavedSets& sets);

/// Symbols that occur in the value of a node, in name order.
std::vector<std::string> free_symbols(const JointView& view, graph::NodeId id);

}  // namespace sapwood::partition
