#pragma once

#include <vector>

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// First and last call that touches a region; -1: none does.
struct Lifetime {
  CallId first = -1;
  CallId last = -1;
};

/// One per region, for the calls in their present order.
std::vector<Lifetime> find_lifetimes(const Program& program);

/// The last call that reads each region; past all calls if it leaves the step or isn't memory of the step.
std::vector<CallId> last_readers(const Program& program);

/// For every region the region whose memory it takes over, or itself: the result of an elementwise call takes over an
/// operand of the same layout that dies there. Chains are resolved (the entry is always the first of the chain), and
/// `lives` of the first covers them all afterwards. Only regions for which `movable` holds take part.
std::vector<RegionId> reuse_dying_operands(const Program& program, const std::vector<bool>& movable,
                                           std::vector<Lifetime>& lives);

}  // namespace sapwood::exec
