#pragma once

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Runs, now and for good, the calls whose results are the same in every step: those that read nothing but constants
/// and aren't random. Their results become constants; only small results (at most 1 KiB) are kept this way. Elementwise
/// operators that take such a result as a number get the number itself.
///
/// Runs after:  lowering. Runs before: fusion (constants aren't worth a place in a fused program).
/// Errors: runtime error if a kernel fails.
void fold_constants(Program& program, const graph::JointGraph& step);

/// Frees constants that nothing reads any more: others were computed from them, or their numbers are in programs now.
///
/// Runs after:  fusion.
void free_unread_constants(Program& program);

}  // namespace sapwood::exec
