#pragma once

#include <vector>

#include "partition/joint_view.h"

namespace sapwood::partition {

enum class Side : uint8_t { kForward, kBackward };

/// The part of a joint graph that computes some outputs from some inputs.
struct Selection {
  std::vector<graph::NodeId> inputs;   ///< become placeholders, in this order
  std::vector<graph::NodeId> nodes;    ///< calls and attributes, in graph order
  std::vector<graph::NodeId> outputs;  ///< kNoNode stands for None
  std::vector<uint8_t> kept;           ///< by NodeId: input or node
  std::vector<int32_t> uses;           ///< by NodeId: how many nodes and outputs read it

  bool keeps(graph::NodeId id) const { return kept[static_cast<size_t>(id)] != 0; }
  bool is_read(graph::NodeId id) const { return uses[static_cast<size_t>(id)] > 0; }
};

/// Takes the nodes that can be computed from `inputs` and that `outputs` (or an effect) need. Nodes bound to the other
/// side are left out. Errors: unsupported error naming an output that can't be computed, and what it lacks.
Selection select_nodes(const JointView& view, const std::vector<graph::NodeId>& inputs,
                       const std::vector<graph::NodeId>& outputs, Side side);

/// Whether nothing on the selected side really reads an input: a collective's `wait_tensor` whose result is unread
/// doesn't count.
bool is_unused_input(const JointView& view, const Selection& selection, graph::NodeId input);

}  // namespace sapwood::partition
