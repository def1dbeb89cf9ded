#include "demo/summary.h"

#include <array>
#include <cstdio>

namespace sapwood::bench {

namespace {

std::string ms(double value) { return format_number(value) + " ms"; }
/// "1.33 x faster", "1.02 x slower".
std::string comparison(double ratio) {
  return ratio >= 1 ? format_number(ratio) + " x faster" : format_number(1 / ratio) + " x slower";
}
std::string loss(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4f", value);
  return text.data();
}
std::string bytes(int64_t value) { return format_bytes(static_cast<double>(value)); }
std::string percent_of(int64_t part, int64_t whole) {
  return whole > 0 ? format_number(100.0 * static_cast<double>(part) / static_cast<double>(whole)) + " % of eager" : "";
}

}  // namespace

std::vector<SummaryLine> summary(const DemoResult& result) {
  const DemoRun &eager = result.eager, &sapwood = result.sapwood;
  return {
      {"time per step, median", ms(eager.median_ms), ms(sapwood.median_ms), comparison(result.ratio)},
      {"time per step, minimum", ms(eager.min_ms), ms(sapwood.min_ms), comparison(eager.min_ms / sapwood.min_ms)},
      {"peak of live tensors in a step", bytes(eager.memory.peak_live_bytes), bytes(sapwood.memory.peak_live_bytes),
       percent_of(sapwood.memory.peak_live_bytes, eager.memory.peak_live_bytes)},
      {"saved for the backward", bytes(eager.memory.saved_bytes), bytes(sapwood.memory.saved_bytes),
       percent_of(sapwood.memory.saved_bytes, eager.memory.saved_bytes)},
      {"loss of the last step", loss(eager.losses.back()), loss(sapwood.losses.back()), ""},
      {"validation loss", loss(eager.validation_loss), loss(sapwood.validation_loss), ""},
      {"largest difference of a loss", "", format_number(result.largest_loss_difference),
       result.largest_loss_difference == 0 ? "equal bit for bit" : ""},
  };
}

std::vector<Row> result_rows(const DemoResult& result) {
  std::vector<Row> rows;
  const auto add = [&](const char* system, const char* metric, double value, const char* unit, const char* better) {
    rows.push_back({"demo", "chargpt", system, result.options.threads, metric, value, unit, better});
  };
  const auto add_run = [&](const char* system, const DemoRun& run) {
    add(system, "ms_per_step", run.median_ms, "ms", "lower");
    add(system, "min_ms_per_step", run.min_ms, "ms", "lower");
    add(system, "peak_live_bytes", static_cast<double>(run.memory.peak_live_bytes), "bytes", "lower");
    add(system, "saved_bytes", static_cast<double>(run.memory.saved_bytes), "bytes", "lower");
    add(system, "final_loss", run.losses.back(), "nat", "lower");
    add(system, "validation_loss", run.validation_loss, "nat", "lower");
  };
  add_run("eager", result.eager);
  add_run("sapwood", result.sapwood);
  add("sapwood", "ratio_vs_eager", result.ratio, "1", "higher");
  add("sapwood", "max_loss_difference", result.largest_loss_difference, "1", "lower");
  return rows;
}

}  // namespace sapwood::bench
