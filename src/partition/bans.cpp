#include "partition/bans.h"

#include <algorithm>

#include "partition/snapshot.h"

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
  const bool repaired = options.compatibility == Compatibility::kRepaired;
  if (options.ban_recompute_not_in_allowlist)
    return info.is_recomputable() && !(repaired && must_run_once(view, id)) ? BanReason::kNone
                                                                            : BanReason::kNotInAllowlist;
  // PyTorch knows three of its random operators here, and draws the others a second time.
  if (info.remat == ops::Remat::kRandom || (repaired && view.draws(id))) return BanReason::kRandom;
  if (repaired && must_run_once(view, id)) return BanReason::kNotInAllowlist;
  if (info.remat == ops::Remat::kHeavy) return BanReason::kHeavy;
  return options.is_non_builtin_to_include && is_non_builtin(view, id) ? BanReason::kNonBuiltin : BanReason::kNone;
}

BanReason judge(const JointView& view, const Classification& classes, const PartitionOptions& options, NodeId id) {
  if (!view.is_call(id) || view.is_getitem(id)) return BanReason::kNone;
  if (view.must_save(id)) return BanReason::kMustSave;
  if (options.compatibility == Compatibility::kRepaired && view.reads_overwritten(id)) return BanReason::kOverwritten;
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
    case BanReason::kNonBuiltin:
      return "non-builtin op";
    case BanReason::kMaterialized:
      return "materialized in backward";
    case BanReason::kTooFar:
      return "too far from backward";
    case BanReason::kReduction:
      return "reduction op";
    case BanReason::kOverwritten:
      return "reads an overwritten input";
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

bool must_run_once(const JointView& view, NodeId id) {
  if (!view.is_call(id)) return false;
  const bool assertion = view.info(id).op_class == ops::OpClass::kAssertion;
  if (view.node(id).target == "higher_order.with_effects" || is_snapshot(view.node(id))) return true;
  return view.draws(id) || view.is_collective(id) || view.reads_overwritten(id) || (view.is_impure(id) && !assertion);
}

bool is_non_builtin(const JointView& view, NodeId id) {
  if (!view.is_call(id)) return false;
  const std::string& target = view.node(id).target;
  if (target == "higher_order.triton_kernel_wrapper_functional") return true;
  // Operators have a namespace, a name and an overload; Python callables haven't.
  const bool is_operator = std::ranges::count(target, '.') == 2;
  return is_operator && !target.starts_with("aten.") && !target.starts_with("prim.") && !target.starts_with("prims.");
}

bool Banner::stays_banned(NodeId id) const {
  if (view_.is_collective(id)) return !options_.unsafe_allow_optimization_of_collectives;
  return options_.compatibility == Compatibility::kRepaired && must_run_once(view_, id);
}

void Banner::ban(NodeId id, BanReason reason) const {
  if (view_.is_view(id) || view_.must_recompute(id)) return;
  const auto at = static_cast<size_t>(id);
  if (!released_.empty() && released_[at] && !stays_banned(id)) return;
  const auto& val = view_.node(id).val;
  if (val && val->as<graph::SymFloatValue>()) return;
  const bool unnamed = ban_reason_name(reason).empty();
  bans_.reason_forgotten[at] = unnamed;
  if (bans_.contains(id)) {
    if (!unnamed) bans_.reason[at] = reason;
    return;
  }
  bans_.order.push_back(id);
  bans_.reason[at] = reason;
}

Bans ban_recomputation(const JointView& view, const Classification& classes, const PartitionOptions& options,
                       const Released& released) {
  Bans bans;
  bans.reason.assign(view.role.size(), BanReason::kNone);
  bans.reason_forgotten.assign(view.role.size(), 0);
  const Banner banner(view, options, released, bans);
  for (const NodeId id : view.order) {
    if (view.role_of(id) == Role::kOutput || classes.in_closure(id) || view.must_recompute(id)) continue;
    if (view.role_of(id) == Role::kPrimal) banner.ban(id, BanReason::kPrimal);
    if (view.role_of(id) == Role::kForwardSeed) banner.ban(id, BanReason::kForwardSeed);
    if (!classes.is_forward(id)) continue;
    const BanReason reason = judge(view, classes, options, id);
    if (reason != BanReason::kNone) banner.ban(id, reason);
  }
  if (options.ban_recompute_used_far_apart) ban_values_used_far_apart(view, classes, banner);
  if (options.ban_recompute_long_fusible_chains) ban_long_fusible_chains(view, classes, banner);
  return bans;
}

}  // namespace sapwood::partition
