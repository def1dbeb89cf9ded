#include "driver/signature.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/variable.h>

#include <span>

#include "capture/convert.h"

namespace sapwood::driver {
namespace {

/// Which hooks on its gradient `t` has: they run while a step is recorded and are part of the recording.
void append_hooks(const at::Tensor& t, Signature& key) {
  const auto* meta = t.defined() ? torch::autograd::impl::get_autograd_meta(t) : nullptr;
  if (meta == nullptr || !meta->cpp_hooks_list_) return key.push_back(0);
  const auto& hooks = *meta->cpp_hooks_list_;  // grows with every hook; removed ones stay as empty functions
  key.push_back(std::ssize(hooks));
  for (const auto& hook : hooks) key.push_back(hook != nullptr);
}

/// Which of `inputs` share a storage with `t`, and how they lie in it.
void append_sharing(const at::Tensor& t, std::span<const at::Tensor> inputs, Signature& key) {
  if (t.defined() && t.has_storage())
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].defined() && inputs[i].has_storage() && inputs[i].is_alias_of(t))
        key.insert(key.end(), {static_cast<int64_t>(i), inputs[i].storage_offset(), t.storage_offset()});
  key.push_back(-1);
}

void append_module(const torch::nn::Module& module, const TrainStep::Tensors& inputs, bool with_gradients,
                   Signature& key) {
  key.push_back(reinterpret_cast<int64_t>(&module));
  key.push_back(module.is_training());
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    key.push_back(reinterpret_cast<int64_t>(item.value().unsafeGetTensorImpl()));
    append_layout(item.value(), key);
    append_hooks(item.value(), key);
    append_sharing(item.value(), inputs, key);
    if (with_gradients) key.push_back(item.value().grad().defined());
  }
  for (const auto& item : module.named_buffers(/*recurse=*/false)) {
    key.push_back(reinterpret_cast<int64_t>(item.value().unsafeGetTensorImpl()));
    append_layout(item.value(), key);
    append_sharing(item.value(), inputs, key);
  }
  for (const auto& child : module.children()) append_module(*child, inputs, with_gradients, key);
}

}  // namespace

void append_layout(const at::Tensor& t, Signature& key) {
  if (!t.defined()) return key.push_back(-1);
  key.push_back(static_cast<int64_t>(t.scalar_type()) | static_cast<int64_t>(t.layout()) << 8 |
                static_cast<int64_t>(t.requires_grad()) << 16 | static_cast<int64_t>(t.device().type()) << 24 |
                static_cast<int64_t>(t.device().index()) << 32);
  key.push_back(t.dim());
  if (t.layout() != at::kStrided) return;
  key.insert(key.end(), t.sizes().begin(), t.sizes().end());
  key.insert(key.end(), t.strides().begin(), t.strides().end());
}

void append_aliasing(const TrainStep::Tensors& inputs, Signature& key) {
  for (size_t i = 0; i < inputs.size(); ++i) append_sharing(inputs[i], std::span(inputs).first(i), key);
}

void append_aliasing_with(const torch::nn::Module& module, const TrainStep::Tensors& inputs, Signature& key) {
  for (const at::Tensor& p : module.parameters()) append_sharing(p, inputs, key);
  for (const at::Tensor& b : module.buffers()) append_sharing(b, inputs, key);
}

void append_training_flags(const torch::nn::Module& module, Signature& key) {
  key.push_back(module.is_training());
  for (const auto& child : module.children()) append_training_flags(*child, key);
}

void append_modes(Signature& key) {
  key.push_back(c10::GradMode::is_enabled() | c10::InferenceMode::is_enabled() << 1 |
                at::autocast::is_autocast_enabled(at::kCPU) << 2 | torch::autograd::AnomalyMode::is_enabled() << 3 |
                at::globalContext().deterministicAlgorithms() << 4 | at::globalContext().userEnabledMkldnn() << 5);
  key.push_back(static_cast<int64_t>(at::autocast::get_autocast_dtype(at::kCPU)));
  key.push_back(static_cast<int64_t>(c10::get_default_dtype_as_scalartype()));
}

void compute_signature(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro, Signature& key) {
  key.clear();
  key.push_back(micro.first | micro.last << 1);
  append_modes(key);
  key.push_back(static_cast<int64_t>(inputs.size()));
  for (const at::Tensor& input : inputs) append_layout(input, key);
  append_aliasing(inputs, key);
  append_module(*parts.module, inputs, /*with_gradients=*/!micro.first, key);
}

void append_update_structure(const StepParts& parts, MicroStep micro, Signature& key) {
  if (micro.last && parts.program != nullptr) parts.program->append_structure(key);
}

std::string why_eager(const at::Tensor& input, size_t index) {
  if (!input.device().is_cpu())
    return fmt::format("input {} is on {}; steps are compiled for the CPU", index, input.device().str());
  if (input.layout() != at::kStrided) return fmt::format("input {} isn't strided", index);
  if (input.is_quantized()) return fmt::format("input {} is quantized", index);
  if (input.is_conj() || input.is_neg())
    return fmt::format("input {} is lazily conjugated or negated; pass resolve_conj() or resolve_neg() of it", index);
  return {};
}

std::string describe_inputs(const TrainStep::Tensors& inputs) {
  std::string text;
  for (const at::Tensor& t : inputs) {
    if (!text.empty()) text += ", ";
    text += t.defined() ? fmt::format("{}[{}]", graph::dtype_name(capture::to_dtype(t.scalar_type())),
                                      fmt::join(t.sizes(), ", "))
                        : "undefined";
  }
  return text;
}

std::string describe_signature(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro) {
  std::string text = describe_inputs(inputs);
  text += parts.module->is_training() ? "; train" : "; eval";
  if (!micro.last)
    text += micro.first ? ", first of accumulation" : ", accumulates";
  else if (!micro.first)
    text += ", last of accumulation";
  return text;
}

}  // namespace sapwood::driver
