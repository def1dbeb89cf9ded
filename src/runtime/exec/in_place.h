#pragma once

#include "runtime/exec/call_graph.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Lets the calls that compute new values of placeholders write straight into the placeholders' memory, where nothing
/// reads the old value later: moves the value's region there and makes the old value's readers run first (edges added
/// to `order`).
///
/// Runs after:  fusion and snapshots of outputs. Runs before: scheduling.
/// Because:     a step then ends without copies, and gradients die as soon as their parameter is updated.
void write_back_in_place(Program& program, CallGraph& order);

}  // namespace sapwood::exec
