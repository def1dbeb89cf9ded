#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string>
#include <vector>

#include "runtime/exec/pointwise_launch.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// A call, ready to run: everything that stays the same from run to run is in it.
struct Launch {
  struct Allocation {
    c10::StorageImpl* storage = nullptr;
    size_t bytes = 0;
  };
  /// A result that lies where a dying operand lies.
  struct Share {
    c10::StorageImpl* from = nullptr;
    c10::StorageImpl* to = nullptr;
  };
  CallKind kind = CallKind::kFunctional;
  bool full_dispatch = false;  ///< has complex operands: conjugate and negative bits need the dispatcher
  std::optional<interp::Callable> callable;
  torch::jit::Stack stack;
  std::vector<ScalarPatch> scalars;
  std::shared_ptr<PointwiseLaunch> pointwise;  ///< kPointwise
  std::vector<at::Tensor> results;             ///< kFunctional: the slots, undefined where a result is dropped
  std::vector<Allocation> allocations;         ///< before the kernel runs
  std::vector<Share> shares;                   ///< before the kernel runs
  std::vector<c10::StorageImpl*> releases;     ///< after it ran
  std::string name;                            ///< of the node, for errors
};

/// Runs one launch; one thread at a time per launch. `inputs` are the step's (for run-time numbers), `stack` is
/// scratch. Errors: runtime error naming the node, with libtorch's message, if the kernel fails.
void run_launch(const Launch& launch, std::span<const c10::IValue> inputs, torch::jit::Stack& stack);

}  // namespace sapwood::exec
