#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::partition {

/// The processes that train one model together, as planning sees them.
class RankExchange {
 public:
  virtual ~RankExchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Every rank's bytes, in rank order, the own ones included. Every rank calls it the same number of times; it returns
  /// when all have. Lengths may differ from rank to rank. Errors: whatever the transport throws.
  virtual std::vector<std::string> all_gather(const std::string& bytes) = 0;
};

enum class Agreement : uint8_t {
  kEqualPlans,       ///< all ranks had the same plan for the same graph
  kTookPlan,         ///< plans differed: all ranks now have that of `rank`
  kDifferentGraphs,  ///< the ranks compile different programs: each keeps its own plan
  kNoCollectives,    ///< plans differ, but no rank waits for another inside the step: each keeps its own plan
};

struct AgreementResult {
  std::vector<graph::NodeId> saved;  ///< the own values as they were given; values of another rank in graph order
  Agreement outcome = Agreement::kEqualPlans;
  int rank = 0;                 ///< whose plan `saved` is; the own rank if it was kept
  std::vector<int64_t> totals;  ///< by rank: bytes that its plan saves, on the rank where that is most; if compared
  int rounds = 0;               ///< how often all ranks exchanged a message
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;  ///< of all ranks' messages, the own ones included
  std::string reason;          ///< one sentence for a user
};

/// Makes all ranks save the same values, so that all run the same collectives in the same order.
///
/// Every rank of the exchange must call it, once per graph and in the same order, whatever its own graph looks like.
/// Each sends one message of 34 bytes with hashes of its graph and of its plan (canonical_names.h). Where these are
/// equal, that is all. Otherwise, if the graphs are equal and have collectives, the plans are exchanged; each rank sums
/// the bytes of every plan with its own sizes, the largest sum over the ranks counts, and the plan with the smallest
/// wins, of equal ones that of the lowest rank. This is what PyTorch 2.13's `_sync_decision_cross_ranks` decides; there
/// ranks that don't agree on having collectives wait forever, and the hash leaves out who reads what.
///
/// Errors, on all ranks alike: user error for a plan that names an unknown node (naming both and the rank) and for a
/// message that can't be read.
AgreementResult agree_on_saved_values(const graph::Graph& joint, std::vector<graph::NodeId> saved, RankExchange& ranks);

}  // namespace sapwood::partition
