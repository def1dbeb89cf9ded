#include "sapwood/compile.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

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
    if (at::GradMode::is_enabled())
      throw_user("compile",
                 "the gradients of a compiled function can't be differentiated again (create_graph); call the function "
                 "itself where you need second derivatives");
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

/// One run of forward and backward, on tangents of ones.
void run_halves(FunctionPair& pair, const Tensors& inputs, const driver::TangentLayouts& layouts, Tensors& outputs,
                Tensors& gradients) {
  auto forward = pair.forward(inputs);
  Tensors tangents;
  for (size_t i = 0; i < forward.outputs.size(); ++i)
    if (pair.differentiable()[i]) tangents.push_back(layouts.ones(i, forward.outputs[i]));
  gradients = pair.backward(forward.saved, tangents);
  outputs = std::move(forward.outputs);
}

void compare_outputs(const RecordedFunction& eager, const Tensors& outputs, Tensors gradients,
                     driver::Comparison& comparison) {
  for (size_t i = 0; i < eager.outputs.size(); ++i)
    comparison.add(fmt::format("output {}", i), eager.outputs[i], outputs[i]);
  Tensors expected = eager.gradients;
  const auto is_undefined = [](const at::Tensor& t) { return !t.defined(); };
  std::erase_if(gradients, is_undefined);
  std::erase_if(expected, is_undefined);
  for (size_t i = 0; i < std::min(gradients.size(), expected.size()); ++i)
    comparison.add(fmt::format("gradient {}", i), expected[i], gradients[i]);
  if (gradients.size() != expected.size()) comparison.first = "the set of gradients";
}

}  // namespace

struct CompiledFunction::Impl {
  /// One signature.
  struct Entry {
    driver::Signature key;
    driver::Signature held_key;  // layout of the tensors that the function holds
    std::shared_ptr<FunctionPair> pair;
    std::shared_ptr<driver::TangentLayouts> tangents = std::make_shared<driver::TangentLayouts>();
    SignatureReport report;
    bool recaptured = false, checked = false;
  };

  Fn fn;
  CompileOptions options;
  std::recursive_mutex mutex;  // the log and the function may ask for the report
  std::vector<std::unique_ptr<Entry>> entries;
  Report report;
  bool warned_limit = false;

  void warn(std::string text) { driver::warn(options.log, report, std::move(text)); }
  driver::Signature signature(const Tensors& inputs) const {
    driver::Signature key;
    driver::append_modes(key);
    for (const at::Tensor& t : inputs) driver::append_layout(t, key);
    driver::append_aliasing(inputs, key);
    if (options.module != nullptr) {
      driver::append_training_flags(*options.module, key);
      driver::append_aliasing_with(*options.module, inputs, key);
    }
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
  Tensors capture(Entry& entry, const Tensors& inputs);
  Tensors capture_into(Entry& entry, const Tensors& inputs, std::string& reason);
  Tensors check(Entry& entry, const Tensors& inputs);
  Tensors run(const Tensors& inputs);
};

Tensors CompiledFunction::Impl::capture(const Tensors& inputs, driver::Signature key) {
  auto entry = std::make_unique<Entry>();
  entry->key = std::move(key);
  Tensors outputs = capture(*entry, inputs);
  entries.push_back(std::move(entry));
  return outputs;
}

Tensors CompiledFunction::Impl::capture(Entry& entry, const Tensors& inputs) {
  std::string reason;
  for (size_t i = 0; i < inputs.size() && reason.empty(); ++i) reason = driver::why_eager(inputs[i], i);
  entry.pair.reset();
  entry.report = {};
  entry.report.signature = driver::describe_inputs(inputs);
  Tensors outputs = reason.empty() ? capture_into(entry, inputs, reason) : fn(inputs);
  ++(entry.pair ? report.captured_steps : report.eager_steps);
  if (!entry.pair) {
    entry.report.fallback = reason;
    warn(fmt::format("this function runs eagerly ({}): {}", entry.report.signature, reason));
  }
  return outputs;
}

/// Runs `fn`, recording it, and compiles the recording if it can be; `reason` says why not.
Tensors CompiledFunction::Impl::capture_into(Entry& entry, const Tensors& inputs, std::string& reason) {
  const driver::Stopwatch capturing;
  RecordedFunction recorded = driver::record_function(fn, inputs, *entry.tangents);
  entry.report.capture_ms = capturing.milliseconds();
  reason = recorded.recording.failure;
  if (!reason.empty()) return recorded.outputs;
  const Tensors outputs = driver::TangentLayouts::watch(entry.tangents, recorded.outputs);
  const driver::Stopwatch compiling;
  try {
    entry.pair = FunctionPair::compile(recorded, options.partitioner);
    entry.held_key = layout_of(entry.pair->held());
    driver::describe(*entry.pair, entry.report);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) throw;
    reason = error.what();
  }
  entry.report.compile_ms = compiling.milliseconds();
  return outputs;
}

/// Runs the compiled halves on tangents of ones, puts everything back, runs `fn`, compares. The eager result is handed
/// out.
Tensors CompiledFunction::Impl::check(Entry& entry, const Tensors& inputs) {
  entry.checked = true;
  ++entry.report.checks;
  ++entry.report.replays;
  driver::StateCopy before(entry.pair->written(inputs));
  Tensors outputs, gradients;
  std::string failure;
  try {
    run_halves(*entry.pair, inputs, *entry.tangents, outputs, gradients);
  } catch (const c10::Error& error) {
    failure = error.what_without_backtrace();
  }
  const driver::StateCopy after(entry.pair->written(inputs));
  before.restore();
  RecordedFunction recorded = driver::record_function(fn, inputs, *entry.tangents);
  driver::Comparison comparison;
  if (failure.empty()) {
    compare_outputs(recorded, outputs, gradients, comparison);
    comparison.add_states(after);
    if (!comparison.first.empty()) failure = comparison.first + " of the compiled function differs from eager";
  }
  entry.report.largest_difference = std::max(entry.report.largest_difference, comparison.largest);
  ++(failure.empty() ? report.replayed_steps : report.eager_steps);
  if (!failure.empty()) {
    entry.report.fallback = failure;
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
    // The first backward told in which layout gradients come: once, the function is captured again for that.
    if (!entry->checked && !entry->recaptured && entry->tangents->take_news()) {
      entry->recaptured = true;
      return capture(*entry, inputs);
    }
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
  if (!fn) throw_user("compile", "the function is empty; pass a callable");
  if (options.max_signatures < 0)
    throw_user("compile", fmt::format("max_signatures must be at least 0, not {}", options.max_signatures));
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
