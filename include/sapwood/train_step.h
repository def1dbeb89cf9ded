#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sapwood/report.h"

namespace sapwood {

/// How the backward gets the forward's values.
enum class Partitioner : uint8_t {
  kAuto,     ///< recompute only what costs no pass over memory: never slower, never above eager's saved bytes
  kDefault,  ///< keep what autograd keeps
  kMinCut,   ///< keep the cheapest cut, recompute the rest: least memory
};

struct TrainStepOptions {
  Partitioner partitioner = Partitioner::kAuto;
  /// Leave the gradients in `.grad` after the step, as eager does. By default they are never materialised: `.grad`
  /// stays undefined. Either way a step begins by clearing `.grad` of every parameter of module and optimizer.
  bool keep_grads = false;
  /// Update the parameters on every n-th call; the calls before only add to `.grad`.
  int64_t accumulation_steps = 1;
  /// As torch::nn::utils::clip_grad_norm_(parameters, max_grad_norm, clip_norm_type) between backward and update.
  std::optional<double> max_grad_norm = std::nullopt;
  double clip_norm_type = 2.0;
  /// Compare a replay with an eager run of the same step: 0 the first replay of each signature, N > 0 that and every
  /// N-th after it, -1 never.
  int64_t check_every = 0;
  /// How many different signatures are compiled; later ones run eagerly, with one warning.
  int64_t max_signatures = 16;
  /// Receives warnings, one line each. Default: standard error.
  std::function<void(std::string_view)> log = nullptr;
};

/// Compiles a training step: forward, loss, backward and optimizer update as one graph.
///
/// The first call with a new signature runs the step eagerly while recording it (it counts as a real step); later calls
/// replay. A step that can't be compiled runs eagerly, gives the same results and says why once (through `log` and in
/// `report()`). Results equal eager LibTorch: bit for bit with one intra-op thread.
///
/// The module and the optimizer stay owned by the caller and must outlive this object; optimizer options (learning
/// rate) and state are read from and written to the optimizer on every call, so schedulers and torch::save work. A call
/// is: gradients to none, `loss_fn`, `backward()`, `step()`. What is returned never lies on the memory of a parameter,
/// a buffer or an input: such tensors are copied.
///
/// Threads: one call at a time per TrainStep (concurrent calls wait for each other); different TrainSteps are
/// independent. Errors: an exception of `loss_fn` passes through unchanged. A loss that isn't a scalar or needs no
/// gradient, an undefined input, or an optimizer that shares no parameter with the module throws sapwood::Error.
class TrainStep {
 public:
  using Tensors = std::vector<at::Tensor>;
  /// Returns the loss, or several tensors with the loss first.
  using StepFn = std::function<Tensors(const Tensors&)>;

  /// `fn(const Tensor&...)` returns the loss as a Tensor, or a std::vector<Tensor> with the loss first.
  template <typename Fn>
  TrainStep(torch::nn::Module& module, torch::optim::Optimizer& optimizer, Fn fn, TrainStepOptions options = {});
  ~TrainStep();
  TrainStep(TrainStep&&) noexcept;
  TrainStep& operator=(TrainStep&&) noexcept;

  /// One training step. Returns the loss, detached.
  template <typename... Inputs>
  at::Tensor operator()(const Inputs&... inputs) {
    return run({inputs...}).front();
  }
  /// One training step. Returns everything that `fn` returned, detached.
  Tensors run(const Tensors& inputs);

  Report report() const;

 private:
  struct Impl;
  void init(torch::nn::Module& module, torch::optim::Optimizer& optimizer, StepFn fn, TrainStepOptions options,
            size_t arity);
  std::shared_ptr<Impl> impl_;  // never shared: unlike unique_ptr it lets the inline constructor see an incomplete Impl
};

namespace detail {

inline TrainStep::Tensors as_list(at::Tensor t) { return {std::move(t)}; }
inline TrainStep::Tensors as_list(TrainStep::Tensors t) { return t; }

template <typename Fn, size_t... I>
TrainStep::Tensors call(Fn& fn, const TrainStep::Tensors& in, std::index_sequence<I...>) {
  return as_list(fn(in[I]...));
}

/// How many tensors `Fn` takes (at most 8).
template <typename Fn, size_t N = 0>
constexpr size_t arity() {
  return []<size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::is_invocable_v<Fn&, decltype((void)I, std::declval<const at::Tensor&>())...>)
      return N;
    else
      return arity<Fn, N + 1>();
  }(std::make_index_sequence<N>{});
}

}  // namespace detail

template <typename Fn>
TrainStep::TrainStep(torch::nn::Module& module, torch::optim::Optimizer& optimizer, Fn fn, TrainStepOptions options) {
  if constexpr (std::is_convertible_v<Fn, StepFn>) {
    init(module, optimizer, StepFn(std::move(fn)), std::move(options), 0);
  } else {
    constexpr size_t n = detail::arity<Fn>();
    init(
        module, optimizer,
        [fn = std::move(fn)](const Tensors& in) mutable { return detail::call(fn, in, std::make_index_sequence<n>{}); },
        std::move(options), n);
  }
}

}  // namespace sapwood
