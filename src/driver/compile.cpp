#include "sapwood/compile.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdio>
#include <mutex>

#include "base/error.h"
#include "driver/function_pair.h"
#include "driver/report_build.h"
#include "driver/self_check.h"
#include "driver/signature.h"

namespace sapwood {
namespace {

using driver::FunctionPair;
using driver::RecordedFunction;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Tensors = CompiledFunction::Tensors;

/// Lets a shared pointer travel through an autograd context.
template <typename T>
struct Holder : torch::CustomClassHolder {
  explicit Holder(std::shared_ptr<T> v) : value(std::move(v)) {}
  std::shared_ptr<T> value;
};

template <typename T>
void keep(AutogradContext* ctx, std::shared_ptr<T> value) {
  ctx->saved_data["state"] = c10::IValue::make_capsule(c10::make_intrusive<Holder<T>>(std::move(value)));
}

template <typename T>
std::shared_ptr<T> kept(AutogradContext* ctx) {
  return static_cast<Holder<T>&>(*ctx->saved_data["state"].toCapsule()).value;
}

/// Joins the compiled halves to the caller's autograd graph. Inputs: the function's, then its parameters.
struct CompiledBridge : torch::autograd::Function<CompiledBridge> {
  static variable_list forward(AutogradContext* ctx, std::shared_ptr<FunctionPair> pair, at::TensorList inputs) {
    const size_t own = inputs.size() - pair->parameters().size();
    auto result = pair->forward(Tensors(inputs.begin(), inputs.begin() + static_cast<int64_t>(own)));
    Tensors constant;
    for (size_t i = 0; i < result.outputs.size(); ++i)
      if (!pair->differentiable()[i]) constant.push_back(result.outputs[i]);
    ctx->mark_non_differentiable(constant);
    ctx->save_for_backward(std::move(result.saved));
    keep(ctx, std::move(pair));
    return result.outputs;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto pair = kept<FunctionPair>(ctx);
    Tensors tangents;
    for (size_t i = 0; i < gradients.size(); ++i)
      if (pair->differentiable()[i]) tangents.push_back(gradients[i]);
    variable_list result = pair->backward(ctx->get_saved_variables(), tangents);
    result.insert(result.begin(), at::Tensor());  // for the pair
    return result;
  }
};

driver::Signature layout_of(const Tensors& tensors) {
  driver::Signature key;
  for (const at::Tensor& t : tensors) driver::append_layout(t, key);
  return key;
}

}  // namespace

struct CompiledFunction::Impl {
  /// One signature.
  struct Entry {
    driver::Signature key;
    driver::Signature held_key;  // layout of the tensors that the function holds
    std::shared_ptr<FunctionPair> pair;
    SignatureReport report;
    bool checked = false;
  };

  Fn fn;
  CompileOptions options;
  std::recursive_mutex mutex;  // the log and the function may ask for the report
  std::vector<std::unique_ptr<Entry>> entries;
  Report report;
  bool warned_limit = false;

  void warn(std::string text) {
    if (options.log)
      options.log(text);
    else
      std::fprintf(stderr, "sapwood: %s\n", text.c_str());
    report.warnings.push_back(std::move(text));
  }
  driver::Signature signature(const Tensors& inputs) const {
    driver::Signature key;
    driver::append_modes(key);
    if (options.module != nullptr) driver::append_training_flags(*options.module, key);
    for (const at::Tensor& t : inputs) driver::append_layout(t, key);
    driver::append_aliasing(inputs, key);
    return key;
  }
  Entry* find(const driver::Signature& key) {
    for (const auto& entry : entries)
      if (entry->key == key && (!entry->pair || entry->held_key == layout_of(entry->pair->held()))) return entry.get();
    return nullptr;
  }
  Tensors eager(const Tensors& inputs) {
    ++report.eager_steps;
    return fn(inputs);
  }
  Tensors capture(const Tensors& inputs, driver::Signature key);
  Tensors check(Entry& entry, const Tensors& inputs);
  Tensors run(const Tensors& inputs);
};

Tensors CompiledFunction::Impl::capture(const Tensors& inputs, driver::Signature key) {
  auto entry = std::make_unique<Entry>();
  entry->key = std::move(key);
  entry->report.signature = driver::describe_inputs(inputs);
  RecordedFunction recorded = driver::record_function(fn, inputs);
  std::string reason = recorded.recording.failure;
  ++report.captured_steps;
  try {
    if (reason.empty()) entry->pair = FunctionPair::compile(recorded, options.partitioner);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    reason = error.what();
  }
  if (entry->pair) {
    entry->held_key = layout_of(entry->pair->held());
    driver::describe(*entry->pair, entry->report);
  } else {
    entry->report.fallback = reason;
    warn(fmt::format("this function runs eagerly ({}): {}", entry->report.signature, reason));
  }
  entries.push_back(std::move(entry));
  return recorded.outputs;
}

/// Runs the compiled halves on tangents of ones, puts everything back, runs `fn`, compares. The eager result is handed
/// out.
Tensors CompiledFunction::Impl::check(Entry& entry, const Tensors& inputs) {
  entry.checked = true;
  ++entry.report.checks;
  driver::StateCopy before(entry.pair->written(inputs));
  const auto forward = entry.pair->forward(inputs);
  Tensors tangents;
  for (size_t i = 0; i < forward.outputs.size(); ++i)
    if (entry.pair->differentiable()[i]) tangents.push_back(at::ones_like(forward.outputs[i]));
  Tensors gradients = entry.pair->backward(forward.saved, tangents);
  const driver::StateCopy after(entry.pair->written(inputs));
  before.restore();
  RecordedFunction recorded = driver::record_function(fn, inputs);
  driver::Comparison comparison;
  for (size_t i = 0; i < recorded.outputs.size(); ++i)
    comparison.add(fmt::format("output {}", i), recorded.outputs[i], forward.outputs[i]);
  std::erase_if(gradients, [](const at::Tensor& t) { return !t.defined(); });
  Tensors expected = recorded.gradients;
  std::erase_if(expected, [](const at::Tensor& t) { return !t.defined(); });
  for (size_t i = 0; i < std::min(gradients.size(), expected.size()); ++i)
    comparison.add(fmt::format("gradient {}", i), expected[i], gradients[i]);
  if (gradients.size() != expected.size()) comparison.first = "the set of gradients";
  comparison.add_states(after);
  entry.report.largest_difference = std::max(entry.report.largest_difference, comparison.largest);
  if (!comparison.first.empty()) {
    entry.report.fallback = comparison.first + " of the compiled function differs from eager";
    entry.report.compiled = false;
    entry.pair.reset();
    warn(fmt::format("this function goes back to eager ({}): {}", entry.report.signature, entry.report.fallback));
  }
  return recorded.outputs;
}

Tensors CompiledFunction::Impl::run(const Tensors& inputs) {
  const std::scoped_lock lock(mutex);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].defined()) throw_user("compile", fmt::format("input {} is undefined; pass a tensor", i));
  if (!at::GradMode::is_enabled()) return eager(inputs);
  driver::Signature key = signature(inputs);
  if (Entry* entry = find(key)) {
    if (!entry->pair) return eager(inputs);
    if (!entry->checked) return check(*entry, inputs);
    ++entry->report.replays;
    ++report.replayed_steps;
    Tensors all = inputs;
    all.insert(all.end(), entry->pair->parameters().begin(), entry->pair->parameters().end());
    return CompiledBridge::apply(entry->pair, at::TensorList(all));
  }
  if (static_cast<int64_t>(entries.size()) < options.max_signatures) return capture(inputs, std::move(key));
  if (!warned_limit)
    warn(fmt::format("{} signatures are compiled, the limit; further ones run eagerly (CompileOptions::max_signatures)",
                     entries.size()));
  warned_limit = true;
  return eager(inputs);
}

CompiledFunction::CompiledFunction(Fn fn, CompileOptions options) : impl_(std::make_shared<Impl>()) {
  impl_->fn = std::move(fn);
  impl_->options = std::move(options);
}
CompiledFunction::~CompiledFunction() = default;
CompiledFunction::CompiledFunction(const CompiledFunction&) = default;
CompiledFunction& CompiledFunction::operator=(const CompiledFunction&) = default;

Tensors CompiledFunction::run(const Tensors& inputs) const { return impl_->run(inputs); }

Report CompiledFunction::report() const {
  const std::scoped_lock lock(impl_->mutex);
  Report report = impl_->report;
  for (const auto& entry : impl_->entries) report.signatures.push_back(entry->report);
  return report;
}

}  // namespace sapwood
