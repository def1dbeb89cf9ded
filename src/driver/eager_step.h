#pragma once

#include <functional>
#include <string>
#include <vector>

#include "capture/optimizer.h"
#include "capture/recorder.h"
#include "sapwood/train_step.h"

namespace sapwood::driver {

/// What a step is made of. Borrowed from the TrainStep, which outlives everything here.
struct StepParts {
  torch::nn::Module* module = nullptr;
  torch::optim::Optimizer* optimizer = nullptr;
  TrainStep::StepFn fn;
  TrainStepOptions options;
  capture::OptimizerProgram* program = nullptr;  ///< null: the optimizer is unknown and runs eagerly
};

/// Where a call stands among `accumulation_steps` calls.
struct MicroStep {
  bool first = true;  ///< gradients start at none
  bool last = true;   ///< the optimizer runs
};

/// The parameters that the step differentiates with respect to: the optimizer's and the module's, once each, with their
/// names.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
std::vector<NamedTensor> named_parameters(const StepParts& parts);
std::vector<NamedTensor> named_buffers(const StepParts& parts);

/// Runs one step as a user's loop does: gradients to none, loss, backward, clipping, update. With a recorder every part
/// is recorded on the way. Returns what the user's function returned, detached and never on the memory of a parameter,
/// a buffer or an input. Errors: what the user's function throws; user errors for a loss that can't be trained on.
TrainStep::Tensors run_eagerly(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro,
                               capture::Recorder* recorder);

/// Runs a step eagerly, recording it into one graph with all roles known. `outputs` gets the step's result.
capture::Recording record_step(const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro,
                               const capture::RecorderOptions& options, TrainStep::Tensors& outputs);

/// Sets every `.grad` to none.
void clear_gradients(const StepParts& parts);

}  // namespace sapwood::driver
