#include "partition/weights.h"

#include <algorithm>
#include <cmath>

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr int64_t kSymIntWeight = 1;
constexpr int64_t kSymFloatWeight = 4;
constexpr double kDistanceFactor = 1.1;
constexpr int64_t kMaxDistance = 100;
/// Larger weights are cut off here: it leaves room for sums, and nothing that fits a machine comes near.
constexpr double kLargestWeight = 0x1p52;

bool is_materialized(const JointView& view, NodeId id) {
  if (view.is_input(id)) return true;
  return !std::ranges::all_of(view.users_of(id), [&](NodeId user) { return view.can_fuse(id, user); });
}

int64_t symbol_weight(const JointView& view, NodeId id) {
  return view.node(id).val->as<graph::SymFloatValue>() ? kSymFloatWeight : kSymIntWeight;
}

int64_t tensor_weight(const JointView& view, const Classification& classes, NodeId id) {
  const auto distance = static_cast<double>(std::clamp<int64_t>(classes.distance(id), 1, kMaxDistance));
  const double scaled = static_cast<double>(view.bytes(id)) * std::pow(kDistanceFactor, distance);
  const auto weight = static_cast<int64_t>(std::min(scaled, kLargestWeight));
  return is_materialized(view, id) ? weight : weight * 2;
}

bool lives_anyway(const JointView& view, NodeId id, const PartitionOptions& options) {
  if (view.is_static[static_cast<size_t>(id)] && options.treat_parameters_as_free_to_save) return true;
  return view.whole_step && std::ranges::find(view.forward_outputs, id) != view.forward_outputs.end();
}

Weight weigh_node(const JointView& view, const Classification& classes, const PartitionOptions& options, NodeId id) {
  if (view.is_symbol(id)) return {symbol_weight(view, id), false, {}};
  if (view.is_opaque(id)) return {};
  if (!view.is_tensor(id)) return {0, true, "non-tensor output"};
  if (lives_anyway(view, id, options)) return {};
  if (options.recompute_views && view.is_view(id)) return {0, true, "view op (recompute_views=True)"};
  return {tensor_weight(view, classes, id), false, {}};
}

}  // namespace

std::vector<Weight> weigh(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  std::vector<Weight> weights(view.role.size());
  for (const NodeId id : view.order) {
    if (view.role_of(id) == Role::kOutput || classes.in_closure(id)) continue;
    weights[static_cast<size_t>(id)] = weigh_node(view, classes, options, id);
  }
  return weights;
}

}  // namespace sapwood::partition
