#include "runtime/exec/write_back.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

using graph::OutputRole;

Call copy_call(const Program& program, ValueId to, ValueId from) {
  Call call;
  call.callable = *interp::find_callable("aten.copy_.default");
  call.stack = {program.tensor(to), program.tensor(from), false};
  call.reads = {from};
  return call;
}

bool writes_placeholder(const Program& program, const OutputBinding& output) {
  return output.role == OutputRole::kWriteBack && output.value != kNoValue &&
         program.region(program.inputs[static_cast<size_t>(output.target)].value).placement == Placement::kInput;
}

}  // namespace

void snapshot_overwritten_outputs(Program& program) {
  std::vector<bool> written(program.regions.size(), false);
  for (const OutputBinding& output : program.outputs)
    if (output.role == OutputRole::kWriteBack && output.value != kNoValue)
      written[static_cast<size_t>(program.region_of(program.inputs[static_cast<size_t>(output.target)].value))] = true;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    OutputBinding& output = program.outputs[i];
    if (output.value == kNoValue || !written[static_cast<size_t>(program.region_of(output.value))]) continue;
    if (output.role == OutputRole::kWriteBack &&
        output.value == program.inputs[static_cast<size_t>(output.target)].value) {
      output.value = kNoValue;  // writes a placeholder to itself
      continue;
    }
    const ValueId copy = add_value_like(program, output.value);
    Call call = copy_call(program, copy, output.value);
    call.kind = CallKind::kOut;
    call.results = {copy};
    program.calls.push_back(std::move(call));
    output.value = copy;
  }
}

void append_write_back_copies(Program& program) {
  for (const OutputBinding& output : program.outputs) {
    if (!writes_placeholder(program, output)) continue;
    const ValueId target = program.inputs[static_cast<size_t>(output.target)].value;
    const Region& from = program.region(output.value);
    if (from.placement == Placement::kInput && from.input == output.target) continue;  // in place already
    Call call = copy_call(program, target, output.value);
    call.kind = CallKind::kMutate;
    call.mutated = {target};
    program.calls.push_back(std::move(call));
  }
}

}  // namespace sapwood::exec
