#pragma once

#include <vector>

#include "partition/joint_view.h"

namespace sapwood::partition {

/// Distance of a value that no backward node can be reached from.
inline constexpr int64_t kFarFromBackward = 1'000'000'000;

/// Which part of a joint graph needs which node. All tables are indexed by NodeId.
struct Classification {
  std::vector<graph::NodeId> inputs;          ///< primals, then the forward's random seeds
  std::vector<graph::NodeId> forward;         ///< what the forward outputs need, in graph order
  std::vector<int32_t> forward_order;         ///< index in `forward`, -1 for other nodes
  std::vector<uint8_t> tangent_closure;       ///< can only run in the backward: depends on a tangent or is placed there
  std::vector<uint8_t> required_backward;     ///< the closure, and what the backward returns
  std::vector<int64_t> distance_to_backward;  ///< fewest uses between the value and a node that isn't forward
  bool has_backward = false;

  bool is_forward(graph::NodeId id) const { return forward_order[static_cast<size_t>(id)] >= 0; }
  bool in_closure(graph::NodeId id) const { return tangent_closure[static_cast<size_t>(id)] != 0; }
  bool is_backward(graph::NodeId id) const { return required_backward[static_cast<size_t>(id)] != 0; }
  int32_t order_of(graph::NodeId id) const { return forward_order[static_cast<size_t>(id)]; }
  int64_t distance(graph::NodeId id) const { return distance_to_backward[static_cast<size_t>(id)]; }
};

/// Sorts the nodes of a joint graph. Errors: internal error if a forward output depends on a tangent.
Classification classify(const JointView& view);

}  // namespace sapwood::partition
