#include "driver/eager_step.h"

#include <ATen/Functions.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/error.h"

namespace sapwood::driver {
namespace {

using graph::InputRole;
using graph::NodeId;
using graph::OutputRole;
using graph::PartitionerTag;
using Tensors = TrainStep::Tensors;

void in_part(capture::Recorder* recorder, PartitionerTag part, const std::function<void()>& fn) {
  if (recorder != nullptr)
    recorder->record(part, fn);
  else
    fn();
}

void check_loss(const Tensors& outputs) {
  if (outputs.empty() || !outputs[0].defined())
    throw_user("train step", "the step function returned an undefined loss; return the loss tensor");
  const at::Tensor& loss = outputs[0];
  if (loss.numel() != 1) {
    const bool loss_elsewhere = std::any_of(outputs.begin(), outputs.end(), [](const at::Tensor& t) {
      return t.defined() && t.numel() == 1 && t.requires_grad();
    });
    throw_user("train step",
               fmt::format("the loss must be a scalar, but it has shape [{}]; {}", fmt::join(loss.sizes(), ", "),
                           loss_elsewhere ? "return the loss first" : "reduce it, e.g. with .mean()"));
  }
  if (loss.is_complex()) throw_user("train step", "the loss is complex; return a real number, e.g. its abs()");
  if (!loss.requires_grad())
    throw_user("train step",
               "the loss doesn't need a gradient: no parameter takes part in it, or it was computed under NoGradGuard "
               "or detached");
}

/// What the caller gets: detached, and copies of what the model and the caller keep and may change.
Tensors handed_out(const StepParts& parts, const Tensors& inputs, const Tensors& outputs) {
  std::unordered_set<const c10::StorageImpl*> kept;
  const auto keep = [&](const at::Tensor& t) {
    if (t.has_storage()) kept.insert(t.storage().unsafeGetStorageImpl());
  };
  for (const at::Tensor& t : inputs) keep(t);
  for (const NamedTensor& p : named_parameters(parts)) keep(p.tensor);
  for (const NamedTensor& b : named_buffers(parts)) keep(b.tensor);
  const at::NoGradGuard no_grad;
  Tensors results;
  for (const at::Tensor& t : outputs) {
    const bool is_kept = t.defined() && t.has_storage() && kept.contains(t.storage().unsafeGetStorageImpl());
    results.push_back(is_kept ? t.clone() : t.defined() ? t.detach() : t);
  }
  return results;
}

/// torch::nn::utils::clip_grad_norm_, operator for operator, without reading the norm on the host.
void clip_gradients(const StepParts& parts) {
  const double max_norm = *parts.options.max_grad_norm, norm_type = parts.options.clip_norm_type;
  std::vector<at::Tensor> grads, norms;
  for (const NamedTensor& p : named_parameters(parts))
    if (p.tensor.grad().defined()) grads.push_back(p.tensor.grad().data());
  if (grads.empty()) return;
  const bool infinite = norm_type == std::numeric_limits<double>::infinity();
  for (const at::Tensor& grad : grads) norms.push_back(infinite ? grad.abs().max() : grad.norm(norm_type));
  at::Tensor total = norms[0];
  if (norms.size() > 1) total = infinite ? at::stack(norms).max() : at::stack(norms).norm(norm_type);
  if (norm_type == 0) total = torch::full({}, static_cast<double>(grads.size()));
  const at::Tensor factor = at::clamp(max_norm / (total + 1e-6), std::nullopt, 1.0);
  for (at::Tensor& grad : grads) grad.mul_(factor);
}

void declare_inputs(const StepParts& parts, const Tensors& inputs, capture::Recorder& recorder) {
  int64_t index = 0;
  for (const NamedTensor& p : named_parameters(parts)) {
    recorder.declare(p.tensor, InputRole::kParameter, p.name, index);
    recorder.declare(p.tensor.grad(), InputRole::kGradient, "gradient of " + p.name, index++);
  }
  index = 0;
  for (const NamedTensor& b : named_buffers(parts)) recorder.declare(b.tensor, InputRole::kBuffer, b.name, index++);
  for (size_t i = 0; i < inputs.size(); ++i)
    recorder.declare(inputs[i], InputRole::kUserInput, fmt::format("input {}", i), static_cast<int64_t>(i));
}

/// Parameters and buffers as aliases: these keep the memory that they have now.
std::vector<NamedTensor> with_memory(const StepParts& parts) {
  std::vector<NamedTensor> result = named_parameters(parts);
  for (NamedTensor& b : named_buffers(parts)) result.push_back(std::move(b));
  for (NamedTensor& t : result) t.tensor = t.tensor.detach();
  return result;
}

/// Name of the first tensor that lies elsewhere now; empty: none does.
std::string first_moved(const std::vector<NamedTensor>& before, const std::vector<NamedTensor>& now) {
  for (size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    if (before[i].name == now[i].name && before[i].tensor.has_storage() && now[i].tensor.has_storage() &&
        !before[i].tensor.is_alias_of(now[i].tensor))
      return now[i].name;
  return {};
}

std::string name_of(const std::vector<NamedTensor>& parameters, const at::Tensor& tensor) {
  for (const NamedTensor& p : parameters)
    if (p.tensor.is_same(tensor)) return p.name;
  return "a parameter";
}

}  // namespace

std::vector<NamedTensor> named_parameters(const StepParts& parts) {
  std::vector<NamedTensor> result;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const auto& item : parts.module->named_parameters())
    if (item.value().defined() && seen.insert(item.value().unsafeGetTensorImpl()).second)
      result.push_back({item.key(), item.value()});
  size_t extra = 0;
  for (const auto& group : parts.optimizer->param_groups())
    for (const at::Tensor& p : group.params())
      if (p.defined() && seen.insert(p.unsafeGetTensorImpl()).second)
        result.push_back({fmt::format("optimizer parameter {}", extra++), p});
  return result;
}

std::vector<NamedTensor> named_buffers(const StepParts& parts) {
  std::vector<NamedTensor> result;
  for (const auto& item : parts.module->named_buffers())
    if (item.value().defined()) result.push_back({item.key(), item.value()});
  return result;
}

void clear_gradients(const StepParts& parts) {
  for (NamedTensor& p : named_parameters(parts)) p.tensor.mutable_grad().reset();
}

Tensors run_eagerly(const StepParts& parts, const Tensors& inputs, MicroStep micro, capture::Recorder* recorder) {
  if (micro.first) clear_gradients(parts);
  Tensors outputs, results;
  in_part(recorder, PartitionerTag::kForward, [&] {
    outputs = parts.fn(inputs);
    results = handed_out(parts, inputs, outputs);
  });
  check_loss(outputs);
  in_part(recorder, PartitionerTag::kBackward, [&] { outputs[0].backward(); });
  if (micro.last) {
    const at::NoGradGuard no_grad;
    if (parts.options.max_grad_norm) in_part(recorder, PartitionerTag::kOptimizer, [&] { clip_gradients(parts); });
    parts.optimizer->step();
  }
  return results;
}

capture::Recording record_step(const StepParts& parts, const Tensors& inputs, MicroStep micro,
                               const capture::RecorderOptions& options, Tensors& outputs) {
  if (micro.first) clear_gradients(parts);
  capture::Recorder recorder(options);
  declare_inputs(parts, inputs, recorder);
  const std::vector<NamedTensor> memory_before = with_memory(parts);
  outputs = run_eagerly(parts, inputs, micro, &recorder);
  const std::vector<NamedTensor> parameters = named_parameters(parts);
  if (const std::string moved = first_moved(memory_before, with_memory(parts)); !moved.empty())
    recorder.fail(
        moved +
        " got other memory inside the step (set_data, or a new tensor); write into it instead, e.g. with copy_");
  std::vector<std::pair<NodeId, graph::OutputSpec>> results;
  for (const at::Tensor& t : outputs) {
    if (!t.defined())
      recorder.fail("the step function returned an undefined tensor");
    else
      results.push_back({recorder.read(t), {OutputRole::kUserOutput, graph::kNoNode}});
  }
  if (micro.last && parts.program != nullptr)
    parts.program->emit(recorder, [&](const at::Tensor& p) { return name_of(parameters, p); });
  const bool keep = parts.options.keep_grads || !micro.last || parts.program == nullptr;
  if (keep && micro.first) {
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].tensor.grad().defined())
        results.push_back({recorder.read(parameters[i].tensor.grad()),
                           {OutputRole::kGradient, recorder.parameter_node(static_cast<int64_t>(i))}});
  }
  if (micro.last && !parts.options.keep_grads) clear_gradients(parts);
  return recorder.finish(std::move(results));
}

}  // namespace sapwood::driver
