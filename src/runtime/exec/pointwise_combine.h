#pragma once

#include <vector>

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Merges operators of optimizer updates that one pass over memory can do (scale and add, scale and addcmul, the Adam
/// step), where nothing else reads the value in between and this machine has an exact kernel. Same arithmetic, so same
/// bits.
std::vector<ElementaryOp> combine_updates(const Program& program, std::vector<ElementaryOp> ops,
                                          const std::vector<ValueId>& stored);

}  // namespace sapwood::exec
