#pragma once

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Runs, now and for good, the calls whose results are the same in every step: those that read nothing but constants
/// and aren't random. Their results become constants; only results of at most 64 KiB are kept this way.
///
/// Runs after:  lowering. Runs before: fusion (constants aren't worth a place in a fused program).
/// Errors: runtime error if a kernel fails.
void fold_constants(Program& program, const graph::JointGraph& step);

}  // namespace sapwood::exec
