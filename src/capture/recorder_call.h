#pragma once

#include <vector>

#include "capture/convert.h"
#include "capture/recorder.h"

namespace sapwood::capture {

/// One operator call, before and after it ran. Internal to the recorder.
struct Recorder::Call {
  const c10::OperatorHandle& op;
  std::vector<c10::IValue> arguments;  ///< tensors share storage with the caller's
  CallArguments converted = {};        ///< of a call that writes nothing
  std::vector<Geometry> before = {};   ///< of the written tensors, as they were
  std::vector<c10::IValue> results = {};

  const c10::FunctionSchema& schema() const { return op.schema(); }
  std::string target() const { return op_target(op.operator_name()); }
};

/// The tensor argument whose storage `result` looks at, or an undefined tensor.
at::Tensor aliased_argument(const at::Tensor& result, const std::vector<c10::IValue>& arguments);

/// The tensors that an argument holds: one, the items of a list, or none.
std::vector<at::Tensor> tensors_of(const c10::IValue& argument);

}  // namespace sapwood::capture
