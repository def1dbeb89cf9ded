#pragma once

#include <ATen/core/Tensor.h>

#include <c10/util/Exception.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sapwood/report.h"
#include "sapwood/train_step.h"

namespace sapwood {

struct CompileOptions {
  Partitioner partitioner = Partitioner::kAuto;
  /// The module whose training flags decide which code runs (train() / eval()); null: the function must not depend on
  /// any.
  torch::nn::Module* module = nullptr;
  /// How many different signatures are compiled; later ones run eagerly, with one warning.
  int64_t max_signatures = 16;
  /// Receives warnings, one line each. Default: standard error.
  std::function<void(std::string_view)> log = nullptr;
};

/// A compiled differentiable function for an existing loop: call it, then `loss.backward()` and `optimizer.step()` as
/// before.
///
/// The first call with a new signature runs `fn` once while recording forward and backward, cuts the graph, and
/// compares what the two halves compute with what eager computed; only then are they used. Later calls run the compiled
/// forward; its backward runs when autograd asks. Parameters that `fn` reads are found by recording and get their
/// gradients as usual. Buffers that `fn` writes (batch norm statistics) are written. What can't be compiled runs
/// eagerly, differentiably, and says why once.
///
/// A gradient that arrives in another layout than in the first call's backward, or expanded (as from `sum()`), is
/// copied into that layout first, after which sums over it may be added in another order than eager's: the same within
/// rounding. A result whose gradient is undefined counts with zeros.
///
/// Not differentiable twice (`create_graph` throws). Values that `fn` takes from the host (a captured number) are fixed
/// at capture. Threads: calls of one object wait for each other; backward may run on any thread. Copies share the
/// compiled code. The tensors that `fn` captured must stay what they are.
class CompiledFunction {
 public:
  using Tensors = std::vector<at::Tensor>;
  using Fn = std::function<Tensors(const Tensors&)>;

  CompiledFunction(Fn fn, CompileOptions options);
  ~CompiledFunction();
  CompiledFunction(const CompiledFunction&);
  CompiledFunction& operator=(const CompiledFunction&);

  /// Errors: what `fn` throws; a user error for an undefined input.
  Tensors run(const Tensors& inputs) const;
  /// For functions of one result.
  template <typename... Inputs>
  at::Tensor operator()(const Inputs&... inputs) const {
    Tensors results = run({inputs...});
    TORCH_CHECK(!results.empty(), "compile: the function returned nothing; call run() for functions without a result");
    return std::move(results.front());
  }
  Report report() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// `fn(const Tensor&...)` returns a Tensor or a std::vector<Tensor>.
template <typename Fn>
CompiledFunction compile(Fn fn, CompileOptions options = {}) {
  if constexpr (std::is_convertible_v<Fn, CompiledFunction::Fn>) {
    return CompiledFunction(CompiledFunction::Fn(std::move(fn)), std::move(options));
  } else {
    constexpr size_t n = detail::arity<Fn>();
    return CompiledFunction(
        [fn = std::move(fn)](const CompiledFunction::Tensors& in) mutable {
          TORCH_CHECK(in.size() == n, "compile: the function takes ", size_t{n}, " inputs, but got ", in.size());
          return detail::call(fn, in, std::make_index_sequence<n>{});
        },
        std::move(options));
  }
}

}  // namespace sapwood
