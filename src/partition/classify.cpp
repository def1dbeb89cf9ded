#include "partition/classify.h"

#include <algorithm>

#include "partition/selection.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;

/// Tangents, what is placed in the backward, and everything that depends on either.
void close_over_tangents(const JointView& view, Classification& c) {
  for (const NodeId id : view.order) {
    const auto at = static_cast<size_t>(id);
    if (view.role_of(id) == Role::kTangent || view.in_backward[at]) c.tangent_closure[at] = 1;
    if (!c.tangent_closure[at]) continue;
    for (const NodeId user : view.users_of(id)) c.tangent_closure[static_cast<size_t>(user)] = 1;
  }
}

void collect_forward(const JointView& view, Classification& c) {
  c.forward_order.assign(view.role.size(), -1);
  const auto add = [&](NodeId id) {
    c.forward_order[static_cast<size_t>(id)] = static_cast<int32_t>(c.forward.size());
    c.forward.push_back(id);
  };
  if (view.whole_step) {
    // The nodes of a step stay where they were recorded: what isn't backward runs in the forward.
    for (const NodeId id : view.order)
      if (!c.in_closure(id)) add(id);
    return;
  }
  const Selection selection = select_nodes(view, c.inputs, view.forward_outputs, Side::kForward);
  for (const NodeId id : view.order)
    if (selection.keeps(id)) add(id);
}

void measure_distances(const JointView& view, Classification& c) {
  c.distance_to_backward.assign(view.role.size(), kFarFromBackward);
  for (auto it = view.order.rbegin(); it != view.order.rend(); ++it) {
    int64_t& distance = c.distance_to_backward[static_cast<size_t>(*it)];
    if (view.role_of(*it) == Role::kOutput) continue;
    if (!c.is_forward(*it)) {
      distance = 0;
      continue;
    }
    for (const NodeId user : view.users_of(*it)) distance = std::min(distance, c.distance(user) + 1);
  }
}

}  // namespace

Classification classify(const JointView& view) {
  Classification c;
  for (const Role wanted : {Role::kPrimal, Role::kForwardSeed})
    for (const NodeId id : view.order)
      if (view.role_of(id) == wanted) c.inputs.push_back(id);

  c.tangent_closure.assign(view.role.size(), 0);
  close_over_tangents(view, c);
  c.required_backward = c.tangent_closure;
  for (const NodeId id : view.backward_outputs)
    if (id != kNoNode) c.required_backward[static_cast<size_t>(id)] = 1;
  c.has_backward = std::ranges::any_of(c.required_backward, [](uint8_t required) { return required != 0; });

  collect_forward(view, c);
  measure_distances(view, c);
  return c;
}

}  // namespace sapwood::partition
