#include "partition/bans.h"

#include <algorithm>

namespace sapwood::partition {
namespace {

using graph::NodeId;
using ops::OpClass;

constexpr int64_t kReductionRatio = 4;
constexpr int64_t kDistanceLimit = 1000;

/// A backward node reads the value (or a view of it) in a way that needs it in memory.
bool is_materialized_in_backward(const JointView& view, const Classification& classes, NodeId id) {
  if (view.is_view(id)) return false;
  std::vector<NodeId> pending{id};
  std::vector<NodeId> seen{id};
  while (!pending.empty()) {
    const NodeId current = pending.back();
    pending.pop_back();
    for (const NodeId user : view.users_of(current)) {
      if (!classes.is_forward(user) && !view.can_fuse(current, user)) return true;
      if (!view.is_view(user) || std::ranges::find(seen, user) != seen.end()) continue;
      seen.push_back(user);
      pending.push_back(user);
    }
  }
  return false;
}

bool is_reduction(const JointView& view, NodeId id) {
  int64_t input_bytes = 0;
  for (const graph::Argument& argument : view.node(id).args)
    if (const auto* read = argument.as<graph::NodeArg>()) input_bytes += view.bytes(read->id);
  return view.bytes(id) * kReductionRatio < input_bytes;
}

BanReason judge_by_list(const JointView& view, NodeId id, const PartitionOptions& options) {
  const ops::OpInfo& info = view.info(id);
  if (view.draws(id)) return options.ban_recompute_not_in_allowlist ? BanReason::kNotInAllowlist : BanReason::kRandom;
  if (options.ban_recompute_not_in_allowlist)
    return info.is_recomputable() ? BanReason::kNone : BanReason::kNotInAllowlist;
  return info.remat == ops::Remat::kHeavy ? BanReason::kHeavy : BanReason::kNone;
}

BanReason judge(const JointView& view, const Classification& classes, const PartitionOptions& options, NodeId id) {
  if (!view.is_call(id) || view.is_getitem(id)) return BanReason::kNone;
  if (view.must_save(id)) return BanReason::kMustSave;
  if (options.recompute_views && view.is_view(id)) return BanReason::kNone;
  const std::string& packet = view.info(id).packet;
  if (packet == "aten.lift_fresh_copy" || packet == "aten.lift_fresh") return BanReason::kNone;
  if (const BanReason listed = judge_by_list(view, id, options); listed != BanReason::kNone) return listed;
  if (options.ban_recompute_materialized_backward && is_materialized_in_backward(view, classes, id))
    return BanReason::kMaterialized;
  const int64_t distance = classes.distance(id);
  if (distance < kDistanceLimit && distance > options.max_dist_from_bw) return BanReason::kTooFar;
  if (options.ban_recompute_reductions && is_reduction(view, id)) return BanReason::kReduction;
  return BanReason::kNone;
}

}  // namespace

std::string_view ban_reason_name(BanReason reason) {
  switch (reason) {
    case BanReason::kPrimal:
      return "primal input";
    case BanReason::kForwardSeed:
      return "forward RNG seed";
    case BanReason::kMustSave:
      return "marked MUST_SAVE";
    case BanReason::kNotInAllowlist:
      return "not in recomputable allowlist";
    case BanReason::kRandom:
      return "random op";
    case BanReason::kHeavy:
      return "compute intensive op";
    case BanReason::kMaterialized:
      return "materialized in backward";
    case BanReason::kTooFar:
      return "too far from backward";
    case BanReason::kReduction:
      return "reduction op";
    case BanReason::kUsedFarApart:
    case BanReason::kLongChain:
    case BanReason::kNone:
      return "";
  }
  return "";
}

std::string Bans::text(NodeId id) const {
  const auto at = static_cast<size_t>(id);
  const std::string_view name = reason_forgotten[at] ? "" : ban_reason_name(reason[at]);
  return name.empty() ? "cannot recompute" : "cannot recompute: " + std::string(name);
}

void ban_if_allowed(const JointView& view, NodeId id, BanReason reason, Bans& bans) {
  if (view.is_view(id) || view.must_recompute(id)) return;
  const auto& val = view.node(id).val;
  if (val && val->as<graph::SymFloatValue>()) return;
  const auto at = static_cast<size_t>(id);
  const bool unnamed = ban_reason_name(reason).empty();
  bans.reason_forgotten[at] = unnamed;
  if (bans.contains(id)) {
    if (!unnamed) bans.reason[at] = reason;
    return;
  }
  bans.order.push_back(id);
  bans.reason[at] = reason;
}

Bans ban_recomputation(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  Bans bans;
  bans.reason.assign(view.role.size(), BanReason::kNone);
  bans.reason_forgotten.assign(view.role.size(), 0);
  for (const NodeId id : view.order) {
    if (view.role_of(id) == Role::kOutput || classes.in_closure(id) || view.must_recompute(id)) continue;
    if (view.role_of(id) == Role::kPrimal) ban_if_allowed(view, id, BanReason::kPrimal, bans);
    if (view.role_of(id) == Role::kForwardSeed) ban_if_allowed(view, id, BanReason::kForwardSeed, bans);
    if (!classes.is_forward(id)) continue;
    const BanReason reason = judge(view, classes, options, id);
    if (reason != BanReason::kNone) ban_if_allowed(view, id, reason, bans);
  }
  if (options.ban_recompute_used_far_apart) ban_values_used_far_apart(view, classes, bans);
  if (options.ban_recompute_long_fusible_chains) ban_long_fusible_chains(view, classes, bans);
  return bans;
}

}  // namespace sapwood::partition
