#include "demo/training.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "common/timing.h"

namespace sapwood::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kTurn = 10;  // steps before the other system has its turn
constexpr int64_t kValidationBatches = 16;
constexpr int64_t kSampleLength = 400;
constexpr double kTemperature = 0.7;

Workload make_training(const TextDataset& text, const DemoOptions& options) {
  const SeedScope seed(options.seed);
  GptShape shape = options.model;
  shape.vocabulary = text.vocabulary();
  auto model = std::make_shared<Gpt>(shape);
  initialise_gpt(*model, shape.layers);
  Workload workload;
  workload.id = "demo";
  workload.name = "chargpt";
  workload.model = model;
  workload.batches = text.training_batches(options.steps, options.batch, shape.context);
  const auto adamw = torch::optim::AdamWOptions(1e-3).weight_decay(0.01);
  workload.optimizer = std::make_unique<torch::optim::AdamW>(model->parameters(), adamw);
  return workload;
}

double validation_loss(Model& model, const TextDataset& text, const DemoOptions& options) {
  const at::NoGradGuard no_grad;
  const SeedScope seed(options.seed + 1);
  double sum = 0;
  for (const Batch& batch : text.validation_batches(kValidationBatches, options.batch, options.model.context)) {
    sum += model.loss(batch.x, batch.y).item<double>();
  }
  return sum / static_cast<double>(kValidationBatches);
}

/// Page breaks and parts of multi-byte characters would garble a terminal.
char printable(char c) { return c == '\n' || (c >= ' ' && c <= '~') ? c : '.'; }

/// Draws character after character from the model, which sees at most its context.
std::string write_sample(Gpt& model, const TextDataset& text, uint64_t seed) {
  const at::NoGradGuard no_grad;
  const SeedScope scope(seed);
  std::string out = "The ";
  at::Tensor tokens = text.encode(out).unsqueeze(0);
  for (int64_t i = 0; i < kSampleLength; ++i) {
    const int64_t seen = std::min(tokens.size(1), model.shape().context);
    const at::Tensor logits = model.logits(tokens.narrow(1, tokens.size(1) - seen, seen)).select(1, seen - 1);
    const at::Tensor next = at::multinomial(at::softmax(logits / kTemperature, -1), 1);
    tokens = at::cat({tokens, next}, 1);
    out += printable(text.character(next.item<int64_t>()));
  }
  return out;
}

/// Runs one turn and returns its median time.
double run_turn(Runner& runner, DemoRun& run, int64_t begin, int64_t end) {
  std::vector<double> times;
  for (int64_t i = begin; i < end; ++i) {
    const auto start = Clock::now();
    const at::Tensor loss = runner.step(runner.workload().batch(i));
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    run.losses.push_back(loss.item<double>());
  }
  run.step_ms.insert(run.step_ms.end(), times.begin(), times.end());
  return median(times);
}

void summarise(DemoRun& run) {
  const auto warm = run.step_ms.begin() + std::min<std::ptrdiff_t>(kTurn, std::ssize(run.step_ms) / 2);
  const std::vector<double> steady(warm, run.step_ms.end());
  run.median_ms = median(steady);
  run.min_ms = *std::min_element(steady.begin(), steady.end());
}

void train(Runner& eager, Runner& sapwood, DemoResult& result, Progress& progress) {
  std::vector<double> ratios;
  for (int64_t begin = 0; begin < result.options.steps; begin += kTurn) {
    const int64_t end = std::min(begin + kTurn, result.options.steps);
    double eager_ms = 0, sapwood_ms = 0;
    const auto eager_turn = [&] { eager_ms = run_turn(eager, result.eager, begin, end); };
    const auto sapwood_turn = [&] { sapwood_ms = run_turn(sapwood, result.sapwood, begin, end); };
    const bool eager_first = begin / kTurn % 2 == 0;
    if (eager_first) eager_turn();
    sapwood_turn();
    if (!eager_first) eager_turn();
    if (begin > 0 || end == result.options.steps) ratios.push_back(eager_ms / sapwood_ms);
    progress.show({end, result.options.steps, result.sapwood.losses.back(), eager_ms, sapwood_ms});
  }
  progress.finish();
  result.ratio = median(ratios);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN too
  }
  return largest;
}

}  // namespace

DemoResult run_demo(const TextDataset& text, const DemoOptions& options, Progress& progress) {
  at::set_num_threads(static_cast<int>(options.threads));
  DemoResult result;
  result.options = options;
  result.options.model.vocabulary = text.vocabulary();
  result.characters = text.size();
  result.files = text.files();

  progress.note("memory of one step, each system alone");
  AllocationTracker tracker;
  const auto workload = [&] { return make_training(text, options); };
  result.eager.memory = measure_memory([&] { return make_eager(workload()); }, tracker);
  result.sapwood.memory = measure_memory([&] { return std::make_unique<SapwoodRunner>(workload()); }, tracker);

  progress.note("training, the two systems in turns of " + std::to_string(kTurn) + " steps");
  const std::unique_ptr<Runner> eager = make_eager(workload());
  SapwoodRunner sapwood(workload());
  for (const at::Tensor& parameter : sapwood.workload().model->parameters()) result.parameters += parameter.numel();
  train(*eager, sapwood, result, progress);
  summarise(result.eager);
  summarise(result.sapwood);

  result.largest_loss_difference = largest_difference(result.eager.losses, result.sapwood.losses);
  result.report = sapwood.report();
  progress.note("validation and a sample");
  result.eager.validation_loss = validation_loss(*eager->workload().model, text, options);
  result.sapwood.validation_loss = validation_loss(*sapwood.workload().model, text, options);
  result.sample = write_sample(dynamic_cast<Gpt&>(*sapwood.workload().model), text, options.seed + 2);
  return result;
}

}  // namespace sapwood::bench
