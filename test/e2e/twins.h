#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sapwood/sapwood.h"

namespace sapwood::test {

using Tensors = std::vector<at::Tensor>;

/// A model, its optimizer and the function that yields the loss first.
struct Training {
  std::shared_ptr<torch::nn::Module> model;
  std::shared_ptr<torch::optim::Optimizer> optimizer;
  std::function<Tensors(const Tensors&)> fn;
};

/// Builds a training from the default generator, which is seeded before.
using MakeTraining = std::function<Training()>;

/// The loop that Sapwood replaces, written out. `call` counts from 0.
Tensors eager_step(Training& training, const Tensors& inputs, const TrainStepOptions& options, int64_t call);

/// One training twice, side by side: eager and through a TrainStep. Each side has its own sequence of random numbers.
/// One thread.
class Twins {
 public:
  explicit Twins(const MakeTraining& make, const TrainStepOptions& options = {});

  /// One step on both sides; reports a failure if an output differs in a bit. Returns the loss.
  double step(const Tensors& inputs);
  /// The same with inputs of each side's own.
  double step_on(const std::function<Tensors(Training&)>& inputs);
  void steps(int64_t count, const std::function<Tensors(int64_t)>& inputs);
  /// Does the same to both sides between steps.
  void both(const std::function<void(Training&)>& action);
  /// Reports a failure if a parameter, buffer or optimizer state differs in a bit.
  void expect_equal_state();
  /// The same for `.grad` of the parameters.
  void expect_equal_gradients();

  Training& eager() { return eager_; }
  Training& sapwood() { return sapwood_; }
  Report report() const { return step_.report(); }
  const std::vector<std::string>& warnings() const { return *warnings_; }

 private:
  Tensors with_generator(at::Tensor& state, const std::function<Tensors()>& action);

  TrainStepOptions options_;
  std::shared_ptr<std::vector<std::string>> warnings_ = std::make_shared<std::vector<std::string>>();
  Training eager_, sapwood_;
  at::Tensor eager_random_, sapwood_random_;
  TrainStep step_;
  int64_t calls_ = 0;
};

/// The signatures of a report as text, for messages of failed expectations.
std::string describe(const Report& report);

/// Linear, tanh, linear and cross entropy: x float `[n, 6]`, y int64 `[n]` below 3.
struct SmallNetImpl : torch::nn::Module {
  SmallNetImpl();
  at::Tensor forward(const at::Tensor& x);
  torch::nn::Linear in, out;
};
TORCH_MODULE(SmallNet);

/// SmallNet with its loss and the optimizer that `make_optimizer` gives.
MakeTraining small_training(const std::function<std::shared_ptr<torch::optim::Optimizer>(SmallNet&)>& make_optimizer);
/// SmallNet with plain SGD.
MakeTraining small_training();

/// Inputs for SmallNet, different and reproducible for each `step`.
Tensors small_batch(int64_t step, int64_t items = 8);

}  // namespace sapwood::test
