#pragma once

#include "driver/compiled_step.h"
#include "driver/function_pair.h"
#include "sapwood/report.h"

namespace sapwood::driver {

/// Fills in what there is to say about a compiled step: counts, saved and recomputed values with reasons, memory.
void describe(const CompiledStep& compiled, SignatureReport& report);
/// The same for a differentiable function; memory and launches are those of its two halves together.
void describe(const FunctionPair& compiled, SignatureReport& report);

}  // namespace sapwood::driver
