#pragma once

#include <string>

#include "driver/compiled_step.h"

namespace sapwood::driver {

/// Copies of tensors and of the random generator's state, to put back or to compare with.
class StateCopy {
 public:
  explicit StateCopy(std::vector<at::Tensor> live);
  /// Writes everything back into the live tensors and the generator.
  void restore() const;

  const std::vector<at::Tensor>& live() const { return live_; }
  const std::vector<at::Tensor>& copies() const { return copies_; }
  const at::Tensor& generator() const { return generator_; }

 private:
  std::vector<at::Tensor> live_;
  std::vector<at::Tensor> copies_;
  at::Tensor generator_;
};

/// Collects differences between what eager computed and what a replay computed.
struct Comparison {
  double largest = 0;  ///< absolute
  std::string first;   ///< the first result that differs by more than it may; empty if all are equal

  void add(const std::string& name, const at::Tensor& eager, const at::Tensor& replayed);
  /// The live tensors and the generator now (eager) with their copies (replayed).
  void add_states(const StateCopy& replayed, const std::vector<std::string>& names = {});
};

/// The verdict on one replay.
struct CheckResult {
  bool equal = false;
  double largest_difference = 0;  ///< absolute, over all compared elements
  std::string difference;         ///< what differs and the first node that does; empty if equal
  TrainStep::Tensors outputs;     ///< of the eager run: the step's result either way
};

/// Replays a step, puts everything back as it was, runs the same step eagerly, and compares outputs, written tensors
/// and the random generator. The eager run is what counts afterwards: state and outputs are its. The user's function
/// runs once. With one thread everything must be equal bit for bit; with more, within 1e-4 of each tensor's largest
/// element (float32; eager differs from run to run, too).
CheckResult check_replay(CompiledStep& compiled, const StepParts& parts, const TrainStep::Tensors& inputs,
                         MicroStep micro);

}  // namespace sapwood::driver
