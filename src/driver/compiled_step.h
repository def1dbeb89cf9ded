#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/recorder.h"
#include "driver/eager_step.h"
#include "partition/partition.h"
#include "runtime/exec/executable.h"

namespace sapwood::driver {

/// A captured step that can be replayed: graph, plan, executable, and where each input comes from. One thread at a
/// time.
class CompiledStep {
 public:
  /// The whole job: clean, partition, schedule, build. `program` is the one that emitted the update; null: the
  /// optimizer runs eagerly after a replay. Steps that share a `workspace` never run at the same time. Errors:
  /// unsupported, naming the stage and the node.
  static std::unique_ptr<CompiledStep> compile(capture::Recording recording, const StepParts& parts,
                                               std::unique_ptr<capture::OptimizerProgram> program,
                                               std::shared_ptr<exec::Workspace> workspace);

  /// Runs one step on the live parameters, buffers and optimizer state. Sets `.grad` where the step leaves gradients.
  TrainStep::Tensors replay(const TrainStep::Tensors& inputs);
  /// The latest replay once more, with the same numbers from the optimizer, showing every value to `observer`.
  TrainStep::Tensors replay_observed(const TrainStep::Tensors& inputs, const exec::Observer& observer);

  /// What the optimizer does after a replay on the host: counts the step, or does all of it if it is unknown.
  void finish_update(const StepParts& parts);

  /// Tensors that a replay overwrites (parameters, buffers, state, accumulated gradients, constants).
  std::vector<NamedTensor> written_tensors(const TrainStep::Tensors& inputs) const;

  const graph::JointGraph& step() const { return step_; }
  const graph::JointGraph& scheduled() const { return scheduled_; }
  const partition::Plan& plan() const { return plan_; }
  const exec::Executable& executable() const { return *executable_; }

 private:
  CompiledStep() = default;
  void bind(const TrainStep::Tensors& inputs);
  at::Tensor tensor_for(const graph::InputSpec& input, size_t position, const TrainStep::Tensors& inputs) const;
  TrainStep::Tensors hand_out(std::vector<at::Tensor> results);

  graph::JointGraph step_;
  graph::JointGraph scheduled_;
  partition::Plan plan_;
  std::unique_ptr<exec::Executable> executable_;
  std::unique_ptr<capture::OptimizerProgram> program_;
  std::vector<at::Tensor> held_;        // parameters, buffers and constants behind the placeholders
  std::vector<at::Tensor> parameters_;  // by InputSpec::index
  std::vector<c10::IValue> arguments_;  // reused
  std::vector<double> scalars_;
};

}  // namespace sapwood::driver
