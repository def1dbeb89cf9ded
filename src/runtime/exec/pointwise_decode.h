#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/exec/pointwise_op.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// What is known of a call while it is lowered: the operator's own arguments, before an out variant is chosen.
struct DecodeContext {
  std::string_view target;
  const torch::jit::Stack& arguments;
  const std::vector<ScalarPatch>& scalars;
  const std::unordered_map<const c10::TensorImpl*, ValueId>& values;
  const Program& program;
  const std::unordered_map<ValueId, double>& uniform;  ///< tensors whose elements all have this value
};

/// The call as a pointwise operator with the result `result`. None if it isn't one, or if its operands don't have the
/// result's type and layout (single elements may be broadcast).
std::optional<ElementaryOp> decode_pointwise(const DecodeContext& context, ValueId result);

}  // namespace sapwood::exec
