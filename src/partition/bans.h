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
  kNonBuiltin,
  kOverwritten,
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

/// Which values a solve may recompute although a rule bans them (by NodeId; empty: none). Collectives, and unless
/// PyTorch's faults are asked for everything that must run once, stay banned.
using Released = std::vector<uint8_t>;

/// Applies the rules that the options leave on. Views are never banned; a user's request to recompute wins over every
/// rule.
Bans ban_recomputation(const JointView& view, const Classification& classes, const PartitionOptions& options,
                       const Released& released = {});

/// Recomputing the value would give another one, or repeat an effect: random numbers, collectives, effects, writes,
/// reads of memory that is overwritten later.
bool must_run_once(const JointView& view, graph::NodeId id);

/// An operator that isn't PyTorch's own.
bool is_non_builtin(const JointView& view, graph::NodeId id);

/// Short name of a reason, as PyTorch writes it.
std::string_view ban_reason_name(BanReason reason);

/// Bans one value unless it is a view, a symbolic float, released, or to be recomputed by the user's will.
class Banner {
 public:
  Banner(const JointView& view, const PartitionOptions& options, const Released& released, Bans& bans)
      : view_(view), options_(options), released_(released), bans_(bans) {}

  void ban(graph::NodeId id, BanReason reason) const;
  bool is_banned(graph::NodeId id) const { return bans_.contains(id); }

 private:
  bool stays_banned(graph::NodeId id) const;

  const JointView& view_;
  const PartitionOptions& options_;
  const Released& released_;
  Bans& bans_;
};

/// The two rules that look at more than one node.
void ban_values_used_far_apart(const JointView& view, const Classification& classes, const Banner& banner);
void ban_long_fusible_chains(const JointView& view, const Classification& classes, const Banner& banner);

}  // namespace sapwood::partition
