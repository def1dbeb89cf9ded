#pragma once

#include <string>
#include <vector>

#include "partition/classify.h"
#include "partition/plan.h"

namespace sapwood::partition {

/// Why a value must not be recomputed in the backward.
enum class BanReason : uint8_t {
  kNone,
  kPrimal,
  kForwardSeed,
  kMustSave,
  kNotInAllowlist,
  kRandom,
  kHeavy,
  kMaterialized,
  kTooFar,
  kReduction,
  kUsedFarApart,
  kLongChain,
};

/// The values that must not be recomputed.
struct Bans {
  std::vector<graph::NodeId> order;       ///< as they were banned, each once
  std::vector<BanReason> reason;          ///< by NodeId, the first one
  std::vector<uint8_t> reason_forgotten;  ///< by NodeId: banned again by a rule to which PyTorch gives no reason

  bool contains(graph::NodeId id) const { return reason[static_cast<size_t>(id)] != BanReason::kNone; }
  /// PyTorch's text for the ban: "cannot recompute: reduction op".
  std::string text(graph::NodeId id) const;
};

/// Applies the rules that the options leave on. Views are never banned; a user's request to recompute wins over every
/// rule.
Bans ban_recomputation(const JointView& view, const Classification& classes, const PartitionOptions& options);

/// Short name of a reason, as PyTorch writes it.
std::string_view ban_reason_name(BanReason reason);

/// The two rules that look at more than one node; they add to `bans`.
void ban_values_used_far_apart(const JointView& view, const Classification& classes, Bans& bans);
void ban_long_fusible_chains(const JointView& view, const Classification& classes, Bans& bans);

/// Bans one value unless it is a view, a symbolic float, or to be recomputed by the user's will.
void ban_if_allowed(const JointView& view, graph::NodeId id, BanReason reason, Bans& bans);

}  // namespace sapwood::partition
