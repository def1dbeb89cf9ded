#pragma once

#include <string>
#include <vector>

#include "common/gpt_model.h"
#include "common/memory.h"
#include "common/runner.h"
#include "demo/dataset.h"
#include "demo/progress.h"

namespace sapwood::bench {

struct DemoOptions {
  GptShape model{
      .vocabulary = 0, .context = 64, .layers = 4, .heads = 4, .width = 128};  ///< the text gives the vocabulary
  int64_t batch = 12;
  int64_t steps = 600;
  int64_t threads = 2;
  uint64_t seed = 7;
};

/// What one system did.
struct DemoRun {
  std::vector<double> losses;        ///< of every step
  std::vector<double> step_ms;       ///< of every step
  double median_ms = 0, min_ms = 0;  ///< without the first steps, which capture and warm up
  double validation_loss = 0;
  MemoryUse memory;
};

struct DemoResult {
  DemoOptions options;
  int64_t parameters = 0, characters = 0, files = 0;
  DemoRun eager, sapwood;
  double ratio = 0;                    ///< eager's time over Sapwood's, median over turns
  double largest_loss_difference = 0;  ///< over all steps
  Report report;                       ///< of the Sapwood run
  std::string sample;                  ///< text that the model trained by Sapwood writes
};

/// Trains the same model twice on the same batches, once by each system. They take turns of a few steps, so that
/// whatever else the machine does hits both.
DemoResult run_demo(const TextDataset& text, const DemoOptions& options, Progress& progress);

}  // namespace sapwood::bench
