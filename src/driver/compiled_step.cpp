#include "driver/compiled_step.h"

#include <ATen/core/grad_mode.h>

#include "graph/verify.h"
#include "passes/dead_code.h"

namespace sapwood::driver {
namespace {

using graph::InputRole;
using graph::OutputRole;

partition::PartitionOptions partition_options(Partitioner partitioner) {
  partition::PartitionOptions options;
  options.method = partitioner == Partitioner::kDefault ? partition::Method::kDefault : partition::Method::kMinCut;
  options.recompute_only_free = partitioner == Partitioner::kAuto;
  return options;
}

void clean(graph::JointGraph& step) {
  passes::remove_dead_nodes_but_draws(step.graph);
  graph::verify_or_throw(step.graph, "capture");
}

}  // namespace

std::unique_ptr<CompiledStep> CompiledStep::compile(capture::Recording recording, const StepParts& parts,
                                                    std::unique_ptr<capture::OptimizerProgram> program,
                                                    std::shared_ptr<exec::Workspace> workspace) {
  std::unique_ptr<CompiledStep> compiled(new CompiledStep);
  compiled->step_ = std::move(recording.step);
  clean(compiled->step_);
  compiled->plan_ = partition::partition_step(compiled->step_, partition_options(parts.options.partitioner));
  compiled->scheduled_ = partition::schedule_step(compiled->step_, compiled->plan_);
  compiled->executable_ = exec::Executable::build(compiled->scheduled_, {.workspace = std::move(workspace)});
  compiled->program_ = std::move(program);
  compiled->held_ = std::move(recording.placeholder_tensors);
  for (const NamedTensor& p : named_parameters(parts)) compiled->parameters_.push_back(p.tensor);
  return compiled;
}

at::Tensor CompiledStep::tensor_for(const graph::InputSpec& input, size_t position,
                                    const TrainStep::Tensors& inputs) const {
  switch (input.role) {
    case InputRole::kUserInput:
      return inputs[static_cast<size_t>(input.index)];
    case InputRole::kState:
      return program_->state_tensor(input.index);
    case InputRole::kGradient:
      return parameters_[static_cast<size_t>(input.index)].grad();
    default:
      return held_[position];
  }
}

void CompiledStep::bind(const TrainStep::Tensors& inputs) {
  const auto& specs = scheduled_.inputs;
  arguments_.resize(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == InputRole::kScalar)
      arguments_[i] = scalars_[static_cast<size_t>(specs[i].index)];
    else
      arguments_[i] = tensor_for(specs[i], i, inputs);
  }
}

TrainStep::Tensors CompiledStep::hand_out(std::vector<at::Tensor> results) {
  TrainStep::Tensors outputs;
  for (size_t i = 0; i < results.size(); ++i) {
    const graph::OutputSpec& spec = scheduled_.outputs[i];
    if (spec.role == OutputRole::kUserOutput) outputs.push_back(std::move(results[i]));
    if (spec.role != OutputRole::kGradient) continue;
    for (const graph::InputSpec& input : scheduled_.inputs)
      if (input.node == spec.target)
        parameters_[static_cast<size_t>(input.index)].mutable_grad() = std::move(results[i]);
  }
  return outputs;
}

TrainStep::Tensors CompiledStep::replay(const TrainStep::Tensors& inputs) {
  if (program_) program_->scalars(scalars_);
  bind(inputs);
  std::vector<at::Tensor> results = executable_->run(arguments_);
  for (size_t i = 0; i < arguments_.size(); ++i)  // the caller's batch isn't ours to keep
    if (scheduled_.inputs[i].role == InputRole::kUserInput) arguments_[i] = c10::IValue();
  return hand_out(std::move(results));
}

TrainStep::Tensors CompiledStep::replay_observed(const TrainStep::Tensors& inputs, const exec::Observer& observer) {
  bind(inputs);
  return hand_out(executable_->run_observed(arguments_, observer));
}

void CompiledStep::finish_update(const StepParts& parts) {
  if (program_) return program_->advance();
  const at::NoGradGuard no_grad;
  parts.optimizer->step();
}

std::vector<NamedTensor> CompiledStep::written_tensors(const TrainStep::Tensors& inputs) const {
  std::vector<NamedTensor> written;
  for (const graph::OutputSpec& output : scheduled_.outputs) {
    if (output.role != OutputRole::kWriteBack) continue;
    for (size_t i = 0; i < scheduled_.inputs.size(); ++i)
      if (scheduled_.inputs[i].node == output.target)
        written.push_back({scheduled_.inputs[i].name, tensor_for(scheduled_.inputs[i], i, inputs)});
  }
  return written;
}

}  // namespace sapwood::driver
