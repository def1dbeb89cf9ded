#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "capture/recorder.h"
#include "driver/tangent_layouts.h"
#include "partition/partition.h"
#include "runtime/exec/executable.h"
#include "sapwood/compile.h"

namespace sapwood::driver {

using Tensors = std::vector<at::Tensor>;

/// A differentiable function while it is being recorded: what it returned, and how to differentiate it eagerly.
struct RecordedFunction {
  capture::Recording recording;
  Tensors outputs;             ///< with eager's autograd history: what a caller may go on with
  Tensors leaves;              ///< stand-ins of the inputs that need a gradient, then the parameters that were read
  Tensors tangents;            ///< ones, for the outputs that need a gradient
  Tensors gradients;           ///< of the leaves, for these tangents; undefined where nothing flows
  std::vector<bool> of_input;  ///< by input: has a leaf
};

/// Runs `fn` once on stand-ins of the inputs, recording forward and (with tangents of ones in these layouts) backward.
RecordedFunction record_function(const CompiledFunction::Fn& fn, const Tensors& inputs, const TangentLayouts& layouts);

/// The two compiled halves of a function. `forward` and `backward` may run on any threads; each half runs once at a
/// time.
class FunctionPair {
 public:
  /// Errors: unsupported, naming the stage and the node.
  static std::shared_ptr<FunctionPair> compile(RecordedFunction& recorded, Partitioner partitioner);

  struct ForwardResult {
    Tensors outputs;
    Tensors saved;  ///< what the backward wants back, inputs among them
  };
  ForwardResult forward(const Tensors& inputs);
  /// Gradients for the inputs (undefined where an input needs none), then for the parameters.
  Tensors backward(const Tensors& saved, const Tensors& tangents);

  const Tensors& parameters() const { return parameters_; }
  /// Which outputs need a gradient.
  const std::vector<bool>& differentiable() const { return differentiable_; }
  /// Tensors held by the function: parameters and others that it reads from outside.
  const Tensors& held() const { return held_; }
  /// Held tensors that the forward overwrites.
  Tensors written(const Tensors& inputs) const;

  const graph::JointGraph& joint() const { return joint_; }
  const partition::Plan& plan() const { return plan_; }
  const exec::Executable& forward_executable() const { return *forward_; }
  const exec::Executable& backward_executable() const { return *backward_; }

 private:
  struct SavedSource {
    int64_t input = -1;   // position among the forward's placeholders, or
    int64_t output = -1;  // position among its outputs
  };
  void split(size_t num_outputs);
  const at::Tensor& source(size_t placeholder, const Tensors& inputs) const;

  graph::JointGraph joint_, forward_step_, backward_step_;
  partition::Plan plan_;
  std::unique_ptr<exec::Executable> forward_, backward_;
  std::mutex forward_mutex_, backward_mutex_;
  std::vector<SavedSource> saved_;
  std::vector<int64_t> backward_arguments_;  // by placeholder: index into saved, or -1 - index into the tangents
  std::vector<int64_t> gradient_of_;         // by backward output: leaf
  std::vector<bool> differentiable_, of_input_;
  Tensors held_, parameters_;
};

}  // namespace sapwood::driver
