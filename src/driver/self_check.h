#pragma once

#include <string>

#include "driver/compiled_step.h"

namespace sapwood::driver {

/// The verdict on one replay.
struct CheckResult {
  bool equal = false;
  double largest_difference = 0;  ///< absolute, over all compared elements
  std::string difference;         ///< what differs and the first node that does; empty if equal
  TrainStep::Tensors outputs;     ///< of the eager run: the step's result either way
};

/// Replays a step, puts everything back as it was, runs the same step eagerly, and compares outputs, written tensors and the random generator.
/// The eager run is what counts afterwards: state and outputs are its. The user's function runs once.
/// With one thread everything must be equal bit for bit; with more, within 1e-4 of each tensor's largest element (float32; eager differs from run to run, too).
CheckResult check_replay(CompiledStep& compiled, const StepParts& parts, const TrainStep::Tensors& inputs, MicroStep micro);

}  // namespace sapwood::driver
