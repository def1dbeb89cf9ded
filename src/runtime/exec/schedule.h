#pragma once

#include "runtime/exec/call_graph.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Puts the calls in execution order: the order they are in, except that updates run as soon as they can, so that
/// gradients die early, and that a call whose results are larger than the operands it lets die waits until it is
/// needed. Updates that are fused programs wait for each other until they are worth a launch together,
/// then run as one.
///
/// Runs after: everything that adds calls or constraints. `order` is used up.
/// Errors: internal if the constraints have a cycle.
void schedule_calls(Program& program, const CallGraph& order);

}  // namespace sapwood::exec
