#include "sapwood/train_step.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <c10/util/ScopeExit.h>
#include <fmt/format.h>
#include <torch/optim/lbfgs.h>

#include <cmath>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "driver/compiled_step.h"
#include "driver/eager_step.h"
#include "driver/report_build.h"
#include "driver/self_check.h"
#include "driver/signature.h"

namespace sapwood {
namespace {

using driver::CompiledStep;
using driver::MicroStep;
using driver::Signature;
void check_options(const TrainStepOptions& options) {
  const auto check = [](bool good, std::string_view name, std::string_view what, auto value) {
    if (!good) throw_user("train step", fmt::format("{} must be {}, not {}", name, what, value));
  };
  check(options.accumulation_steps >= 1, "accumulation_steps", "at least 1", options.accumulation_steps);
  check(options.check_every >= -1, "check_every", "-1 (never), 0 (once) or a number of replays", options.check_every);
  check(options.max_signatures >= 0, "max_signatures", "at least 0", options.max_signatures);
  if (options.max_grad_norm) check(*options.max_grad_norm >= 0, "max_grad_norm", "at least 0", *options.max_grad_norm);
  check(!std::isnan(options.clip_norm_type), "clip_norm_type", "a number", options.clip_norm_type);
}

}  // namespace

struct TrainStep::Impl {
  struct SignatureHash {
    size_t operator()(const Signature& key) const {
      return hash_bytes({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(key[0])});
    }
  };

  /// One signature: compiled, or eager for a reason.
  struct Entry {
    std::unique_ptr<CompiledStep> compiled;
    SignatureReport report;
  };

  driver::StepParts parts;
  std::unique_ptr<capture::OptimizerProgram> programs;  // recognises; each entry has its own
  size_t arity = 0;
  mutable std::recursive_mutex mutex;  // the log and the step function may ask for the report
  bool running = false;
  std::vector<std::unique_ptr<Entry>> entries;
  std::unordered_map<Signature, Entry*, SignatureHash> by_signature;
  Signature key;            // of the present call; memory reused
  size_t structure_at = 0;  // where the optimizer's part of `key` starts
  Report report;
  std::vector<at::Tensor> parameters;  // as of the latest capture; a change is a new signature
  int64_t position = 0;                // among the calls of one accumulation
  bool warned_limit = false;
  std::shared_ptr<exec::Workspace> workspace =
      std::make_shared<exec::Workspace>();  // of all entries: one runs at a time

  void warn(std::string text) { driver::warn(parts.options.log, report, std::move(text)); }
  void check_arguments(const Tensors& inputs) const;
  void check_optimizer() const;
  std::string eager_reason(const Tensors& inputs) const;
  Tensors run(const Tensors& inputs);
  Tensors run_eager(const Tensors& inputs, MicroStep micro);
  Tensors capture_step(const Tensors& inputs, MicroStep micro);
  Tensors replay(Entry& entry, const Tensors& inputs, MicroStep micro);
  Tensors check(Entry& entry, const Tensors& inputs, MicroStep micro);
  void finish_step(MicroStep micro);
};

void TrainStep::Impl::check_optimizer() const {
  std::unordered_set<const c10::TensorImpl*> of_module;
  for (const at::Tensor& p : parts.module->parameters()) of_module.insert(p.unsafeGetTensorImpl());
  if (of_module.empty())
    throw_user("train step", "the module has no parameters; register them with register_parameter or register_module");
  size_t shared = 0, all = 0;
  for (const auto& group : parts.optimizer->param_groups()) {
    for (const at::Tensor& p : group.params()) {
      ++all;
      shared += of_module.count(p.unsafeGetTensorImpl());
    }
  }
  if (all == 0) throw_user("train step", "the optimizer has no parameters; construct it with module->parameters()");
  if (shared == 0)
    throw_user("train step",
               "the optimizer holds none of the module's parameters; construct it with parameters() of the module that "
               "is trained");
}

void TrainStep::Impl::check_arguments(const Tensors& inputs) const {
  if (arity != 0 && inputs.size() != arity)
    throw_user("train step", fmt::format("the step function takes {} inputs, but got {}", arity, inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].defined()) throw_user("train step", fmt::format("input {} is undefined; pass a tensor", i));
}

/// Why this call can't be compiled whatever the function does; empty if it may.
std::string TrainStep::Impl::eager_reason(const Tensors& inputs) const {
  if (!c10::GradMode::is_enabled()) return "gradients are switched off on this thread (NoGradGuard)";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::string reason = driver::why_eager(inputs[i], i); !reason.empty()) return reason;
    if (inputs[i].requires_grad())
      return fmt::format("input {} requires grad; only parameters get gradients in a compiled step", i);
  }
  for (const driver::NamedTensor& p : driver::named_parameters(parts)) {
    if (!p.tensor.device().is_cpu())
      return fmt::format("parameter {} is on {}; steps are compiled for the CPU", p.name, p.tensor.device().str());
    if (!p.tensor.is_leaf()) return fmt::format("parameter {} isn't a leaf", p.name);
  }
  return {};
}

void TrainStep::Impl::finish_step(MicroStep micro) {
  if (micro.last && !parts.options.keep_grads)
    for (at::Tensor& p : parameters) p.mutable_grad().reset();
  position = micro.last ? 0 : position + 1;
}

TrainStep::Tensors TrainStep::Impl::run_eager(const Tensors& inputs, MicroStep micro) {
  Tensors outputs = driver::run_eagerly(parts, inputs, micro, nullptr);
  finish_step(micro);
  ++report.eager_steps;
  return outputs;
}

TrainStep::Tensors TrainStep::Impl::capture_step(const Tensors& inputs, MicroStep micro) {
  auto entry = std::make_unique<Entry>();
  entry->report.signature = driver::describe_signature(parts, inputs, micro);
  parameters.clear();
  for (const driver::NamedTensor& p : driver::named_parameters(parts)) parameters.push_back(p.tensor);
  auto program = capture::OptimizerProgram::recognise(*parts.optimizer);
  driver::StepParts recorded = parts;
  recorded.program = program.get();
  std::string reason = eager_reason(inputs);
  Tensors outputs;
  if (!reason.empty()) {
    outputs = driver::run_eagerly(parts, inputs, micro, nullptr);
    finish_step(micro);
  } else {
    const driver::Stopwatch watch;
    capture::Recording recording = driver::record_step(recorded, inputs, micro, {}, outputs);
    entry->report.capture_ms = watch.milliseconds();
    finish_step(micro);
    reason = recording.failure;
    const driver::Stopwatch compiling;
    try {
      if (reason.empty())
        entry->compiled = CompiledStep::compile(std::move(recording), recorded, std::move(program), workspace);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInternal) throw;
      reason = error.what();
    }
    entry->report.compile_ms = compiling.milliseconds();
  }
  if (entry->compiled) {
    ++report.captured_steps;
    driver::describe(*entry->compiled, entry->report);
  } else {
    ++report.eager_steps;
    entry->report.fallback = reason;
    warn(fmt::format("this step runs eagerly ({}): {}", entry->report.signature, reason));
  }
  // The state of the optimizer may have been born in this step: the next call has the key that counts.
  key.resize(structure_at);
  driver::append_update_structure(parts, micro, key);
  by_signature[key] = entry.get();
  entries.push_back(std::move(entry));
  return outputs;
}

TrainStep::Tensors TrainStep::Impl::check(Entry& entry, const Tensors& inputs, MicroStep micro) {
  driver::CheckResult result = driver::check_replay(*entry.compiled, parts, inputs, micro);
  finish_step(micro);
  ++entry.report.checks;
  ++(result.equal ? report.replayed_steps : report.eager_steps);
  entry.report.largest_difference = std::max(entry.report.largest_difference, result.largest_difference);
  if (!result.equal) {
    entry.report.fallback = result.difference;
    entry.report.compiled = false;
    entry.compiled.reset();
    warn(fmt::format("this step goes back to eager ({}): {}", entry.report.signature, entry.report.fallback));
  }
  return std::move(result.outputs);
}

TrainStep::Tensors TrainStep::Impl::replay(Entry& entry, const Tensors& inputs, MicroStep micro) {
  const int64_t done = entry.report.replays++, every = parts.options.check_every;
  if (every >= 0 && (entry.report.checks == 0 || (every > 0 && done % every == 0))) return check(entry, inputs, micro);
  const driver::Stopwatch watch;
  Tensors outputs = entry.compiled->replay(inputs);
  if (micro.last) entry.compiled->finish_update(parts);
  finish_step(micro);
  ++report.replayed_steps;
  const double ms = watch.milliseconds();
  entry.report.mean_replay_ms +=
      (ms - entry.report.mean_replay_ms) / static_cast<double>(entry.report.replays - entry.report.checks);
  return outputs;
}

TrainStep::Tensors TrainStep::Impl::run(const Tensors& inputs) {
  const std::scoped_lock lock(mutex);
  if (running) throw_user("train step", "a step can't be called inside its own step function");
  running = true;
  const auto done = c10::make_scope_exit([this] { running = false; });
  check_arguments(inputs);
  const MicroStep micro{position == 0, position + 1 == parts.options.accumulation_steps};
  driver::compute_signature(parts, inputs, micro, key);
  structure_at = key.size();
  driver::append_update_structure(parts, micro, key);
  const auto found = by_signature.find(key);
  if (found != by_signature.end()) {
    Entry& entry = *found->second;
    return entry.compiled ? replay(entry, inputs, micro) : run_eager(inputs, micro);
  }
  if (static_cast<int64_t>(entries.size()) < parts.options.max_signatures) return capture_step(inputs, micro);
  if (!warned_limit)
    warn(fmt::format(
        "{} signatures are compiled, the limit; further ones run eagerly (TrainStepOptions::max_signatures)",
        entries.size()));
  warned_limit = true;
  return run_eager(inputs, micro);
}

void TrainStep::init(torch::nn::Module& module, torch::optim::Optimizer& optimizer, StepFn fn, TrainStepOptions options,
                     size_t arity) {
  check_options(options);
  if (!fn) throw_user("train step", "the step function is empty; pass a callable that returns the loss");
  if (dynamic_cast<torch::optim::LBFGS*>(&optimizer) != nullptr)
    throw_user("train step",
               "LBFGS evaluates the loss several times in one step, a TrainStep evaluates it once; call "
               "optimizer.step(closure) yourself and speed up the loss function with sapwood::compile");
  impl_ = std::make_unique<Impl>();
  impl_->parts = {&module, &optimizer, std::move(fn), std::move(options), nullptr};
  impl_->arity = arity;
  impl_->programs = capture::OptimizerProgram::recognise(optimizer);
  impl_->parts.program = impl_->programs.get();
  impl_->check_optimizer();
}

TrainStep::~TrainStep() = default;
TrainStep::TrainStep(TrainStep&&) noexcept = default;
TrainStep& TrainStep::operator=(TrainStep&&) noexcept = default;

TrainStep::Tensors TrainStep::run(const Tensors& inputs) {
  if (!impl_) throw_user("train step", "this step was moved from; call the one that it was moved to");
  return impl_->run(inputs);
}

Report TrainStep::report() const {
  if (!impl_) throw_user("train step", "this step was moved from; ask the one that it was moved to");
  const std::scoped_lock lock(impl_->mutex);
  Report report = impl_->report;
  for (const auto& entry : impl_->entries) report.signatures.push_back(entry->report);
  return report;
}

}  // namespace sapwood
