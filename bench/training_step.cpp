// Time, memory and agreement of a training step: plain LibTorch against Sapwood, side by side in one process.

#include <torch/torch.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "common/rows.h"
#include "common/runner.h"
#include "common/state.h"
#include "common/timing.h"

namespace {

using namespace sapwood::bench;

constexpr int64_t kLockstepSteps = 30;

struct Arguments {
  std::vector<std::string> cases = workload_ids();
  std::vector<int> threads{1, 2};
  TimingOptions timing;
  std::string json = "build/bench/training_step.json";
  std::string data;
  bool check = false;

  WorkloadOptions workload() const {
    WorkloadOptions options;
    if (!data.empty()) options.data = data;
    return options;
  }
};

/// What lockstep training of both systems showed.
struct Agreement {
  double largest_loss_difference = 0;
  std::string state_difference;  ///< empty: parameters, buffers and optimizer state are bit-equal
  bool losses_equal = true;
};

struct CaseResult {
  TimingResult timing;
  MemoryUse eager_memory, sapwood_memory;
  Agreement agreement;
};

/// Trains both, step by step on the same batches and random numbers.
Agreement run_lockstep(Runner& eager, SapwoodRunner& sapwood) {
  Agreement agreement;
  for (int64_t i = 0; i < kLockstepSteps; ++i) {
    const at::Tensor a = eager.step_with_own_generator(eager.workload().batch(i));
    const at::Tensor b = sapwood.step_with_own_generator(sapwood.workload().batch(i));
    const double difference = std::fabs(a.item<double>() - b.item<double>());
    if (!(difference <= agreement.largest_loss_difference)) agreement.largest_loss_difference = difference;
    agreement.losses_equal = agreement.losses_equal && bit_equal(a, b);
  }
  agreement.state_difference = first_difference(named_state(*eager.workload().model, *eager.workload().optimizer),
                                                named_state(*sapwood.workload().model, *sapwood.workload().optimizer));
  return agreement;
}

CaseResult measure_case(const std::string& id, const Arguments& arguments, AllocationTracker& tracker) {
  const auto workload = [&] { return make_workload(id, arguments.workload()); };
  CaseResult result;
  result.eager_memory = measure_memory([&] { return make_eager(workload()); }, tracker);
  result.sapwood_memory = measure_memory([&] { return std::make_unique<SapwoodRunner>(workload()); }, tracker);
  const std::unique_ptr<Runner> eager = make_eager(workload());
  SapwoodRunner sapwood(workload());
  result.agreement = run_lockstep(*eager, sapwood);
  result.timing = time_runners({eager.get(), &sapwood}, arguments.timing);
  return result;
}

void append_rows(std::vector<Row>& rows, const std::string& id, int64_t threads, const CaseResult& result) {
  const auto add = [&](const char* system, const char* metric, double value, const char* unit, const char* better) {
    rows.push_back({"training_step", id, system, threads, metric, value, unit, better});
  };
  const auto add_system = [&](const char* system, const Timing& timing, const MemoryUse& memory) {
    add(system, "ms_per_step", timing.median_ms, "ms", "lower");
    add(system, "min_ms_per_step", timing.min_ms, "ms", "lower");
    add(system, "peak_live_bytes", static_cast<double>(memory.peak_live_bytes), "bytes", "lower");
    add(system, "saved_bytes", static_cast<double>(memory.saved_bytes), "bytes", "lower");
  };
  add_system("eager", result.timing.timings.front(), result.eager_memory);
  add_system("sapwood", result.timing.timings.back(), result.sapwood_memory);
  add("sapwood", "ratio_vs_eager", result.timing.ratio, "1", "higher");
  add("sapwood", "max_loss_difference", result.agreement.largest_loss_difference, "1", "lower");
}

std::vector<std::string> table_line(const std::string& id, int64_t threads, const CaseResult& result) {
  const Timing &eager = result.timing.timings.front(), &sapwood = result.timing.timings.back();
  const auto bytes = [](int64_t n) { return format_bytes(static_cast<double>(n)); };
  return {id,
          std::to_string(threads),
          format_number(eager.median_ms),
          format_number(sapwood.median_ms),
          format_number(eager.min_ms),
          format_number(sapwood.min_ms),
          format_number(result.timing.ratio),
          bytes(result.eager_memory.peak_live_bytes),
          bytes(result.sapwood_memory.peak_live_bytes),
          bytes(result.eager_memory.saved_bytes),
          bytes(result.sapwood_memory.saved_bytes),
          format_number(result.agreement.largest_loss_difference)};
}

int measure(const Arguments& arguments) {
  AllocationTracker tracker;
  std::vector<Row> rows;
  Table table({"case", "threads", "eager ms", "sapwood ms", "eager min", "sapwood min", "ratio", "eager peak",
               "sapwood peak", "eager saved", "sapwood saved", "loss diff"});
  const size_t total = arguments.threads.size() * arguments.cases.size();
  size_t done = 0;
  for (const int threads : arguments.threads) {
    at::set_num_threads(threads);
    for (const std::string& id : arguments.cases) {
      std::cerr << "training_step: " << ++done << " of " << total << ": " << id << ", " << threads << " thread(s)"
                << std::endl;
      const CaseResult result = measure_case(id, arguments, tracker);
      append_rows(rows, id, threads, result);
      table.add(table_line(id, threads, result));
    }
  }
  table.print(std::cout);
  write_rows(arguments.json, rows);
  std::cout << "rows: " << arguments.json << '\n';
  return 0;
}

int check(const Arguments& arguments) {
  at::set_num_threads(1);
  bool all_equal = true;
  for (const std::string& id : arguments.cases) {
    const std::unique_ptr<Runner> eager = make_eager(make_workload(id, arguments.workload()));
    SapwoodRunner sapwood(make_workload(id, arguments.workload()));
    const Agreement agreement = run_lockstep(*eager, sapwood);
    const int64_t replayed = sapwood.report().replayed_steps;
    const bool equal = agreement.losses_equal && agreement.state_difference.empty();
    all_equal = all_equal && equal && replayed > 0;
    std::cout << id << ' ' << eager->workload().name << ": " << (equal ? "bit-equal" : "DIFFERENT") << " after "
              << kLockstepSteps << " steps, " << replayed << " of them replayed";
    if (!agreement.losses_equal) std::cout << "; losses differ by " << agreement.largest_loss_difference;
    if (!agreement.state_difference.empty()) std::cout << "; " << agreement.state_difference;
    std::cout << std::endl;
  }
  return all_equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Training steps of LibTorch eager and of Sapwood, interleaved in one process.");
  app.add_option("--cases", arguments.cases, "Workloads, separated by commas")->delimiter(',')->capture_default_str();
  app.add_option("--threads", arguments.threads, "Intra-op thread counts, separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--seconds", arguments.timing.seconds, "Timed seconds per system and case")->capture_default_str();
  app.add_option("--steps", arguments.timing.max_steps, "Timed steps per system and case at most (0: no limit)");
  app.add_option("--rounds", arguments.timing.rounds, "Slices of time, the systems taking turns")
      ->capture_default_str();
  app.add_option("--json", arguments.json, "Where the rows go")->capture_default_str();
  app.add_option("--data", arguments.data, "Folder of W*.npz files to start from instead of generated values");
  app.add_flag("--check", arguments.check,
               "Only compare 30 steps bit for bit with one thread; status 1 if something differs");
  CLI11_PARSE(app, argc, argv);
  try {
    return arguments.check ? check(arguments) : measure(arguments);
  } catch (const std::exception& error) {
    std::cerr << "training_step: " << error.what() << '\n';
    return 2;
  }
}
