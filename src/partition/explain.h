#pragma once

#include <string>

#include "partition/bans.h"

namespace sapwood::partition {

/// What the sentences of a plan are made from. `bans` is null where no cut was solved.
struct Explanation {
  const JointView& view;
  const Classification& classes;
  const Bans* bans = nullptr;

  /// One sentence for a user: who needs the value in the backward, and why it isn't recomputed.
  std::string why_saved(graph::NodeId id) const;
  /// One sentence for a user: why recomputing the value is better than keeping it.
  std::string why_recomputed(graph::NodeId id) const;
};

}  // namespace sapwood::partition
