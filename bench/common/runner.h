#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/memory.h"
#include "common/workload.h"
#include "sapwood/sapwood.h"

namespace sapwood::bench {

/// Trains one workload with one system.
class Runner {
 public:
  explicit Runner(Workload workload);
  virtual ~Runner() = default;

  /// "eager" or "sapwood".
  virtual std::string system() const = 0;
  /// One training step. Returns the loss, detached.
  virtual at::Tensor step(const Batch& batch) = 0;
  /// Bytes that live from the forward to the backward of a step, without parameters, state and inputs. Runs a step.
  /// `tracker` has an open Scope that is older than this runner.
  virtual int64_t saved_bytes(const Batch& batch, AllocationTracker& tracker) = 0;

  Workload& workload() { return workload_; }
  /// Bytes of parameters, buffers, optimizer state and batches.
  int64_t persistent_bytes();
  /// A step whose random numbers continue this runner's own sequence, whatever others draw in between.
  at::Tensor step_with_own_generator(const Batch& batch);

 private:
  Workload workload_;
  at::Tensor generator_state_;
};

/// The plain loop: gradients to none, loss, backward, optimizer step.
std::unique_ptr<Runner> make_eager(Workload workload);

/// A Runner that can say what Sapwood did.
class SapwoodRunner : public Runner {
 public:
  SapwoodRunner(Workload workload, TrainStepOptions options = {});
  std::string system() const override { return "sapwood"; }
  at::Tensor step(const Batch& batch) override;
  int64_t saved_bytes(const Batch& batch, AllocationTracker& tracker) override;
  Report report() const { return step_.report(); }

 private:
  TrainStep step_;
};

/// What a system needs for a step in steady state, over the bytes of parameters, buffers, optimizer state and batches.
struct MemoryUse {
  int64_t peak_live_bytes = 0;
  int64_t saved_bytes = 0;
  std::vector<LivePoint> timeline;  ///< of one step
};

/// Builds a runner with `make`, warms it up, and measures one step with the tracker. The runner lives alone: whatever
/// it allocates and keeps, a preallocated arena too, counts.
MemoryUse measure_memory(const std::function<std::unique_ptr<Runner>()>& make, AllocationTracker& tracker);

}  // namespace sapwood::bench
