#include "runtime/exec/split_loss.h"

#include <ATen/core/Reduction.h>

#include <string>

#include "runtime/exec/slots.h"

namespace sapwood::exec {
namespace {

/// Position of the reduction among the arguments of all of them.
constexpr size_t kReduction = 2;

bool is_loss(std::string_view target) {
  return target == "aten.mse_loss.default" || target == "aten.smooth_l1_loss.default" ||
         target == "aten.huber_loss.default";
}

bool can_split(const torch::jit::Stack& arguments, const Call& call) {
  if (!arguments[0].isTensor() || !arguments[1].isTensor() || call.results.size() != 1 || !call.scalars.empty())
    return false;
  const at::Tensor &input = arguments[0].toTensor(), &target = arguments[1].toTensor();
  return same_layout(input, target) && input.is_contiguous() && at::isFloatingType(input.scalar_type()) &&
         arguments[kReduction].toInt() != at::Reduction::None;
}

Call part(const Call& call, interp::Callable callable, torch::jit::Stack stack) {
  Call part = call;
  part.kind = CallKind::kOut;
  part.callable = std::move(callable);
  part.stack = std::move(stack);
  return part;
}

}  // namespace

bool split_reduced_loss(Program& program, std::string_view target, const torch::jit::Stack& arguments,
                        const Call& call) {
  if (!is_loss(target) || !can_split(arguments, call)) return false;
  const bool mean = arguments[kReduction].toInt() == at::Reduction::Mean;
  const std::string name(target.substr(0, target.rfind('.')));
  const auto loss = interp::find_callable(name + ".out");
  const auto reduce = interp::find_callable(mean ? "aten.mean.out" : "aten.sum.IntList_out");
  if (!loss || !reduce) return false;

  const ValueId unreduced = add_value_like(program, call.reads.front());
  torch::jit::Stack stack = arguments;
  stack[kReduction] = int64_t{at::Reduction::None};
  stack.emplace_back(program.tensor(unreduced));
  Call first = part(call, *loss, std::move(stack));
  first.results = {unreduced};
  Call second = part(
      call, *reduce,
      {program.tensor(unreduced), c10::List<int64_t>(), false, c10::IValue(), program.tensor(call.results.front())});
  second.reads = {unreduced};
  program.calls.push_back(std::move(first));
  program.calls.push_back(std::move(second));
  return true;
}

}  // namespace sapwood::exec
