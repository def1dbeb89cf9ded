#pragma once

#include <ATen/core/stack.h>

#include <string_view>

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Losses that are reduced to a number compute the unreduced loss first, in memory of their own. Appends to the program
/// the same two kernels as two calls, so that this memory is planned with all other. `call` is the loss with its reads
/// and results, `arguments` are those of `target`. False, and nothing happens, if it isn't such a loss or its operands
/// aren't contiguous and of one size.
bool split_reduced_loss(Program& program, std::string_view target, const torch::jit::Stack& arguments,
                        const Call& call);

}  // namespace sapwood::exec
