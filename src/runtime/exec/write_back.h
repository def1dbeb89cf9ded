#pragma once

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Gives outputs that must not see the step's own writes (views of a placeholder that is written back) a copy of their
/// own. Runs before: everything else; after it no output value lies in the memory of a placeholder that another output
/// writes.
void snapshot_overwritten_outputs(Program& program);

/// Appends a copy into the placeholder for every write-back that isn't in place yet.
/// Runs after: in-place decisions. The copies are the last calls.
void append_write_back_copies(Program& program);

}  // namespace sapwood::exec
