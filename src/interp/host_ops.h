#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <string_view>

namespace sapwood::interp {

/// Whether `target` is a Python callable on host values ("operator.getitem", "operator.mul", "torch.sym_max",
/// "math.trunc"), not an operator.
bool is_host_op(std::string_view target);

/// Python's result for it on ints, floats and bools; for getitem, element `args[1]` of the tuple, list or dict
/// `args[0]`. Errors: unsupported for a callable or for operand types that aren't implemented, user error for an index
/// out of range; both name `node_name`.
c10::IValue call_host_op(std::string_view target, std::span<const c10::IValue> args, const std::string& node_name);

}  // namespace sapwood::interp
