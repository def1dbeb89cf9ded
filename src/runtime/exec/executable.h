#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "runtime/exec/workspace.h"

namespace sapwood::exec {

/// Sees the value of every node as it is computed, in execution order. For debugging: a run with an observer doesn't
/// fuse and frees nothing early.
using Observer = std::function<void(const graph::Node&, const c10::IValue&)>;

/// What was decided about memory when the executable was built. Bytes; values that live during a step only, so without
/// parameters, buffers, state and inputs.
struct MemoryReport {
  int64_t arena_bytes = 0;          ///< fixed, in the workspace
  int64_t peak_live_bytes = 0;      ///< largest sum of live values
  std::vector<int64_t> live_bytes;  ///< after each launch
};

struct ExecutableOptions {
  bool fuse_pointwise =
      true;                 ///< run chains of exact elementwise operators block by block, without intermediate tensors
  bool plan_memory = true;  ///< false: every value gets its own allocation (a debugging aid)
  std::shared_ptr<Workspace> workspace = nullptr;  ///< memory of the arena; none: the executable has its own
};

/// A training step ready to be repeated: operators and their schemas are resolved, views are made once, every value
/// that an out-variant can write has a fixed place in one arena, and what remains is a flat list of launches.
///
/// Bound to the shapes, strides and dtypes of the step it was built from; the caller guards those. `run` may be called
/// from any thread, by one at a time. Builds that need something no kernel offers throw an unsupported error naming the
/// node.
class Executable {
 public:
  /// `step` is in execution order with recomputation in place (partition::schedule_step).
  static std::unique_ptr<Executable> build(const graph::JointGraph& step, const ExecutableOptions& options);
  virtual ~Executable() = default;

  /// Runs the step. `inputs`: one value per placeholder, in order; tensors, or doubles for InputRole::kScalar.
  /// Placeholders with a write-back output are updated in place. Returns one tensor per output of the step, undefined
  /// for write-backs; they are the caller's own memory.
  virtual std::vector<at::Tensor> run(std::span<const c10::IValue> inputs) = 0;
  /// The same with every intermediate value shown to `observer`.
  virtual std::vector<at::Tensor> run_observed(std::span<const c10::IValue> inputs, const Observer& observer) = 0;

  virtual const MemoryReport& memory() const = 0;
  virtual int64_t launches() const = 0;
  virtual int64_t fused_nodes() const = 0;
};

}  // namespace sapwood::exec
