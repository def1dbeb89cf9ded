#pragma once

#include "check/pair_context.h"

namespace sapwood::check {

/// No draw happens twice, replays apart, and the forward draws in the order of the joint graph.
void check_draws(PairContext& context);

/// Every effect happens once, in its part and in order. Waits and assertions may be repeated or dropped; collectives
/// that nobody reads may be dropped, and repeated if the user marked them for recomputation; a write to memory that the
/// part allocated itself may be repeated.
void check_effects(PairContext& context);

}  // namespace sapwood::check
