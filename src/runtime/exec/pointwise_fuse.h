#pragma once

#include "runtime/exec/call_graph.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Replaces chains of exact elementwise calls on equally laid out tensors by single kPointwise calls, whose inner
/// values never reach memory. Calls of different parts of the step stay apart; an update of a single operator becomes a
/// kPointwise call too, so that the updates of many parameters can run together.
///
/// Runs after:  lowering.
/// Runs before: in-place write-backs and scheduling (which put the calls in a valid order again; after this they are in
/// none). Returns:     the order constraints of the new calls. `fused` receives the number of nodes inside kPointwise
/// calls.
CallGraph fuse_pointwise(Program& program, int64_t& fused);

}  // namespace sapwood::exec
