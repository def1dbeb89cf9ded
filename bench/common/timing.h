#pragma once

#include <cstdint>
#include <vector>

#include "common/runner.h"

namespace sapwood::bench {

/// Milliseconds per step.
struct Timing {
  double median_ms = 0;
  double min_ms = 0;
  int64_t steps = 0;
};

/// Value in the middle; NaN of nothing.
double median(std::vector<double> values);

struct TimingOptions {
  double seconds = 3;     ///< for each runner
  int64_t max_steps = 0;  ///< per runner; 0: no limit
  int64_t rounds = 10;    ///< slices of time into which the seconds are cut
};

struct TimingResult {
  std::vector<Timing> timings;  ///< one per runner
  double ratio = 0;             ///< time of the first over time of the last runner, median over the rounds
};

/// Times the runners in turn, slice by slice and in alternating order, so that noise of the machine hits all alike.
/// Runners are warm before.
TimingResult time_runners(const std::vector<Runner*>& runners, const TimingOptions& options);

}  // namespace sapwood::bench
