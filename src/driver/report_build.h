#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "driver/compiled_step.h"
#include "driver/function_pair.h"
#include "sapwood/report.h"

namespace sapwood::driver {

/// Wall time since it was made.
class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tells the user through `log` (null: standard error) and notes it in the report. What `log` throws is dropped: a
/// warning must not end a step.
void warn(const std::function<void(std::string_view)>& log, Report& report, std::string text);

/// Fills in what there is to say about a compiled step: counts, saved and recomputed values with reasons, memory.
void describe(const CompiledStep& compiled, SignatureReport& report);
/// The same for a differentiable function; memory and launches are those of its two halves together.
void describe(const FunctionPair& compiled, SignatureReport& report);

}  // namespace sapwood::driver
