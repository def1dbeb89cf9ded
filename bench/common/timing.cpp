#include "common/timing.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace sapwood::bench {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Runs steps for `budget_ms`, two at least and `max_steps` at most; the time of each.
std::vector<double> run_slice(Runner& runner, double budget_ms, int64_t max_steps) {
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int64_t i = 0; i < max_steps && (i < 2 || ms_since(begin) < budget_ms); ++i) {
    const auto start = Clock::now();
    runner.step(runner.workload().batch(i));
    times.push_back(ms_since(start));
  }
  return times;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

TimingResult time_runners(const std::vector<Runner*>& runners, const TimingOptions& options) {
  const double slice_ms = options.seconds * 1e3 / static_cast<double>(options.rounds);
  const int64_t slice_steps = options.max_steps > 0 ? std::max<int64_t>(2, options.max_steps / options.rounds)
                                                    : std::numeric_limits<int64_t>::max();
  std::vector<std::vector<double>> times(runners.size());
  std::vector<double> ratios;
  for (int64_t round = 0; round < options.rounds; ++round) {
    std::vector<double> middle(runners.size());
    for (size_t k = 0; k < runners.size(); ++k) {
      const size_t i = round % 2 == 0 ? k : runners.size() - 1 - k;
      const std::vector<double> slice = run_slice(*runners[i], slice_ms, slice_steps);
      middle[i] = median(slice);
      times[i].insert(times[i].end(), slice.begin(), slice.end());
    }
    ratios.push_back(middle.front() / middle.back());
  }
  TimingResult result{.timings = {}, .ratio = median(ratios)};
  for (const std::vector<double>& all : times) {
    result.timings.push_back(
        {median(all), *std::min_element(all.begin(), all.end()), static_cast<int64_t>(all.size())});
  }
  return result;
}

}  // namespace sapwood::bench
