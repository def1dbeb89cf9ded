#include "common/runner.h"

#include <torch/torch.h>

#include <utility>

#include "common/state.h"

namespace sapwood::bench {

namespace {

constexpr int64_t kWarmUpSteps = 4;  // capture, checked replay, and replays of every batch

class EagerRunner final : public Runner {
 public:
  using Runner::Runner;
  std::string system() const override { return "eager"; }

  at::Tensor step(const Batch& batch) override {
    workload().optimizer->zero_grad();
    at::Tensor loss = workload().model->loss(batch.x, batch.y);
    loss.backward();
    workload().optimizer->step();
    return loss.detach();
  }

  int64_t saved_bytes(const Batch& batch, AllocationTracker& tracker) override {
    workload().optimizer->zero_grad();
    const int64_t before = tracker.live_bytes();
    at::Tensor loss = workload().model->loss(batch.x, batch.y);
    // Nothing but the loss and what autograd keeps has outlived the forward's scope.
    const int64_t kept = tracker.live_bytes() - before - static_cast<int64_t>(loss.storage().nbytes());
    loss.backward();
    workload().optimizer->step();
    return kept;
  }
};

}  // namespace

Runner::Runner(Workload workload)
    : workload_(std::move(workload)), generator_state_(at::detail::getDefaultCPUGenerator().get_state()) {}

int64_t Runner::persistent_bytes() {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, value] : named_state(*workload_.model, *workload_.optimizer)) {
    if (value.dim() > 0) tensors.push_back(value);  // step counts are no tensors of the optimizer
  }
  for (const Batch& batch : workload_.batches) tensors.insert(tensors.end(), {batch.x, batch.y});
  return storage_bytes(tensors);
}

at::Tensor Runner::step_with_own_generator(const Batch& batch) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const at::Tensor former = generator.get_state();
  generator.set_state(generator_state_);
  at::Tensor loss = step(batch);
  generator_state_ = generator.get_state();
  generator.set_state(former);
  return loss;
}

std::unique_ptr<Runner> make_eager(Workload workload) { return std::make_unique<EagerRunner>(std::move(workload)); }

SapwoodRunner::SapwoodRunner(Workload workload, TrainStepOptions options)
    : Runner(std::move(workload)),
      step_(
          *this->workload().model, *this->workload().optimizer,
          [model = this->workload().model.get()](const at::Tensor& x, const at::Tensor& y) {
            return model->loss(x, y);
          },
          std::move(options)) {}

at::Tensor SapwoodRunner::step(const Batch& batch) { return step_(batch.x, batch.y); }

int64_t SapwoodRunner::saved_bytes(const Batch& batch, AllocationTracker& /*tracker*/) {
  step(batch);
  const Report now = report();
  return now.signatures.empty() ? 0 : now.signatures.front().saved_bytes;
}

MemoryUse measure_memory(const std::function<std::unique_ptr<Runner>()>& make, AllocationTracker& tracker) {
  const AllocationTracker::Scope scope(tracker);
  const int64_t before = tracker.live_bytes();
  const std::unique_ptr<Runner> runner = make();
  for (int64_t i = 0; i < kWarmUpSteps; ++i) runner->step(runner->workload().batch(i));
  MemoryUse use;
  use.saved_bytes = runner->saved_bytes(runner->workload().batch(0), tracker);
  const int64_t floor = before + runner->persistent_bytes();
  tracker.start(floor, /*with_timeline=*/true);
  runner->step(runner->workload().batch(1));
  use.peak_live_bytes = tracker.peak_bytes() - floor;
  use.timeline = tracker.take_timeline();
  return use;
}

}  // namespace sapwood::bench
