// Programs that once crashed, hung or went wrong silently.

#include <gmock/gmock.h>

#include <cmath>

#include "e2e/twins.h"

namespace sapwood::test {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Misuse, ALossWhoseOutVariantResizes) {
  Twins twins([] {
    SmallNet net;
    return Training{net.ptr(), std::make_shared<torch::optim::SGD>(net->parameters(), 0.1),
                    [net](const Tensors& in) mutable {
                      const at::Tensor y = in[1].unsqueeze(1).expand({-1, 3}).to(at::kFloat).mul(0.3);
                      return Tensors{at::binary_cross_entropy(at::sigmoid(net(in[0])), y)};
                    }};
  });
  twins.steps(6, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_EQ(5, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Misuse, MemoryOfAParameterReplacedInsideTheStep) {
  Twins twins([] {
    SmallNet net;
    return Training{net.ptr(), std::make_shared<torch::optim::SGD>(net->parameters(), 0.1),
                    [net](const Tensors& in) mutable {
                      net->in->weight.set_data(net->in->weight.detach() * 0.9);
                      return Tensors{at::cross_entropy_loss(net(in[0]), in[1])};
                    }};
  });
  twins.steps(6, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  ASSERT_FALSE(twins.warnings().empty());
  EXPECT_THAT(twins.warnings().front(), HasSubstr("set_data"));
}

TEST(Misuse, AnOutputOfACompiledFunctionEditedBeforeItsBackward) {
  const at::Tensor w = torch::randn({4}, torch::requires_grad()), x = torch::randn({4});
  auto fn = compile([&](const at::Tensor& a) { return (a * w).tanh(); });
  for (int i = 0; i < 5; ++i) {
    const std::string message = message_of([&] {
      at::Tensor y = fn(x);
      y.mul_(3);
      y.sum().backward();
    });
    EXPECT_THAT(message, HasSubstr("modified by an inplace operation")) << "call " << i;
  }
}

TEST(Misuse, ACompiledFunctionThatWritesItsInput) {
  const at::Tensor w = torch::ones({3}, torch::requires_grad());
  auto fn = compile([&](const at::Tensor& a) {
    a.mul_(2);
    return (a * w).sum();
  });
  for (int i = 0; i < 4; ++i) {
    const at::Tensor x = torch::ones({3});
    EXPECT_EQ(6, fn(x).item<double>()) << "call " << i;
    EXPECT_EQ(2, x[0].item<double>()) << "call " << i;
  }
}

TEST(Misuse, InputsThatOverlapPartlyAndOneIsWritten) {
  for (const bool writes_first : {true, false}) {
    Twins twins([&] {
      SmallNet net;
      auto optimizer = std::make_shared<torch::optim::SGD>(net->parameters(), 0.1);
      return Training{net.ptr(), optimizer, [net, writes_first](const Tensors& in) mutable {
                        in[writes_first ? 0 : 1].clamp_(-0.5, 0.5);  // twice is as once: both systems get these tensors
                        return Tensors{(net(in[1]) * in[0].sum()).square().mean()};
                      }};
    });
    twins.steps(4, [](int64_t i) {
      const at::Tensor rows = small_batch(i)[0];
      return Tensors{rows.slice(0, 0, 5), rows.slice(0, 3, 8)};
    });
    twins.expect_equal_state();
    EXPECT_THAT(twins.warnings().at(0), HasSubstr("clone()"));
  }
}

TEST(Misuse, WrongNumbersOfInputsAndResults) {
  auto two = compile([](const at::Tensor& a, const at::Tensor& b) { return a * b; });
  EXPECT_THAT(message_of([&] { two(torch::ones({2})); }), HasSubstr("takes 2 inputs, but got 1"));
  auto none = compile([](const at::Tensor&) { return Tensors{}; });
  EXPECT_THAT(message_of([&] { none(torch::ones({2})); }), HasSubstr("returned nothing"));
}

TEST(Misuse, AStepThatWasMovedFromAndAStepInsideItself) {
  Training training = small_training()();
  TrainStep* self = nullptr;
  TrainStep step(*training.model, *training.optimizer, [&](const Tensors& in) {
    if (self != nullptr) self->run(in);
    return training.fn(in);
  });
  TrainStep moved = std::move(step);
  EXPECT_THAT(message_of([&] { step.run(small_batch(0)); }),
              HasSubstr("moved from"));  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(message_of([&] { step.report(); }), HasSubstr("moved from"));
  self = &moved;
  EXPECT_THAT(message_of([&] { moved.run(small_batch(0)); }), HasSubstr("inside its own step function"));
}

TEST(Misuse, TheReportInsideTheLog) {
  Training training = small_training()();
  TrainStep* self = nullptr;
  int64_t captured = -1;
  TrainStepOptions options;
  options.log = [&](std::string_view) { captured = self->report().captured_steps; };
  TrainStep step(
      *training.model, *training.optimizer,
      [&](const Tensors& in) {
        Tensors outputs = training.fn(in);
        outputs[0].item<double>();
        return outputs;
      },
      options);
  self = &step;
  step.run(small_batch(0));
  EXPECT_EQ(0, captured);
}

TEST(Misuse, ReturnedTensorsOfTheModelAreCopies) {
  auto model = std::make_shared<torch::nn::Module>();
  const at::Tensor w = model->register_parameter("w", torch::ones({}));
  const at::Tensor calls = model->register_buffer("calls", torch::zeros({}));
  torch::optim::SGD optimizer(model->parameters(), 0.5);
  TrainStep step(*model, optimizer, [&](const at::Tensor&) {
    calls.add_(1);
    return Tensors{w, calls, w * 2};  // the loss is the parameter
  });
  Tensors earlier;
  for (int i = 0; i < 4; ++i) {
    const Tensors results = step.run({torch::ones({1})});
    EXPECT_EQ(1 - 0.5 * i, results[0].item<double>()) << "the loss before the update, call " << i;
    EXPECT_EQ(i + 1, results[1].item<double>());
    EXPECT_FALSE(results[0].is_alias_of(w));
    EXPECT_FALSE(results[1].is_alias_of(calls));
    if (i > 0) {
      EXPECT_EQ(i, earlier[1].item<double>()) << "what was returned stays what it is";
    }
    earlier = results;
  }
  EXPECT_EQ(3, step.report().replayed_steps) << describe(step.report());
}

TEST(Misuse, OptionsThatMakeNoSense) {
  Training training = small_training()();
  const auto message = [&](const std::function<void(TrainStepOptions&)>& change) {
    TrainStepOptions options;
    change(options);
    return message_of([&] { TrainStep(*training.model, *training.optimizer, training.fn, options); });
  };
  EXPECT_THAT(message([](auto& o) { o.accumulation_steps = 0; }), HasSubstr("accumulation_steps must be at least 1"));
  EXPECT_THAT(message([](auto& o) { o.max_grad_norm = std::nan(""); }), HasSubstr("max_grad_norm must be at least 0"));
  EXPECT_THAT(message([](auto& o) { o.max_grad_norm = -1; }), HasSubstr("max_grad_norm must be at least 0, not -1"));
  EXPECT_THAT(message([](auto& o) { o.clip_norm_type = std::nan(""); }), HasSubstr("clip_norm_type"));
  EXPECT_THAT(message([](auto& o) { o.check_every = -2; }), HasSubstr("check_every must be -1"));
  EXPECT_THAT(message([](auto& o) { o.max_signatures = -1; }), HasSubstr("max_signatures must be at least 0"));
  EXPECT_THAT(message_of([&] { TrainStep(*training.model, *training.optimizer, TrainStep::StepFn()); }),
              HasSubstr("the step function is empty"));
  EXPECT_THAT(message_of([] { compile(CompiledFunction::Fn()); }), HasSubstr("the function is empty"));
  torch::optim::LBFGS lbfgs(training.model->parameters());
  EXPECT_THAT(message_of([&] { TrainStep(*training.model, lbfgs, training.fn); }), HasSubstr("sapwood::compile"));
}

TEST(Misuse, ALogFunctionThatThrows) {
  Training training = small_training()();
  TrainStepOptions options;
  options.log = [](std::string_view) { throw std::runtime_error("disk full"); };
  TrainStep step(
      *training.model, *training.optimizer,
      [&](const Tensors& in) {
        Tensors outputs = training.fn(in);
        outputs[0].item<double>();
        return outputs;
      },
      options);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(step.run(small_batch(0))[0].defined());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the log function threw"));
  EXPECT_EQ(1u, step.report().warnings.size());
}

TEST(Misuse, ErrorsOfAReplayAreOfTheTypeThatEagerThrows) {
  torch::manual_seed(0);
  torch::nn::Embedding table(5, 3);
  torch::optim::SGD optimizer(table->parameters(), 0.1);
  TrainStep step(*table, optimizer, [&](const at::Tensor& i) { return table(i).square().mean(); });
  const at::Tensor good = torch::tensor({1, 2, 3}), bad = torch::tensor({1, 7, 3});
  for (int i = 0; i < 3; ++i) step(good);
  const at::Tensor before = table->weight.detach().clone();
  EXPECT_THROW(step(bad), c10::IndexError);
  EXPECT_TRUE(before.equal(table->weight));
  step(good);
  EXPECT_EQ(3, step.report().replayed_steps) << describe(step.report());
}

TEST(Misuse, AReplayThatFailsWhereEagerDoesNot) {
  Twins twins([] {
    torch::nn::Embedding table(5, 3);
    auto first = std::make_shared<bool>(true);
    return Training{table.ptr(), std::make_shared<torch::optim::SGD>(table->parameters(), 0.1),
                    [table, first](const Tensors& in) mutable {
                      const at::Tensor index = std::exchange(*first, false) ? in[0] : in[0].remainder(5);
                      return Tensors{table(index).square().mean()};
                    }};
  });
  twins.steps(4, [](int64_t i) { return Tensors{torch::full({3}, i * 9, at::kLong)}; });
  twins.expect_equal_state();
  ASSERT_EQ(1u, twins.warnings().size());
  EXPECT_THAT(twins.warnings()[0], HasSubstr("the replay failed: index out of range"));
  EXPECT_EQ(3, twins.report().eager_steps);
}

TEST(Misuse, AFunctionOfLazilyConjugatedInputsRunsEagerly) {
  const at::Tensor w = torch::randn({3}, torch::dtype(at::kComplexFloat)).requires_grad_();
  CompileOptions options;
  std::vector<std::string> warnings;
  options.log = [&](std::string_view line) { warnings.emplace_back(line); };
  auto fn = compile([&](const at::Tensor& x) { return at::real(x * w).sum(); }, options);
  const at::Tensor x = torch::randn({3}, at::kComplexFloat).conj();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(fn(x), at::real(x * w).sum()));
  ASSERT_EQ(1u, warnings.size());
  EXPECT_THAT(warnings[0], HasSubstr("resolve_conj()"));
  EXPECT_EQ(3, fn.report().eager_steps);
  EXPECT_EQ(0, fn.report().captured_steps);
}

TEST(Misuse, SecondDerivativesOfACompiledFunction) {
  const at::Tensor w = torch::randn({3}, torch::requires_grad());
  auto fn = compile([&](const at::Tensor& x) { return (x * w).pow(2).sum(); });
  const auto differentiate = [&] {
    const at::Tensor x = torch::ones({3}, torch::requires_grad());
    return torch::autograd::grad({fn(x)}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0].requires_grad();
  };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(differentiate());  // recorded and checked calls hand out eager's results
  EXPECT_THAT(message_of(differentiate), HasSubstr("can't be differentiated again"));
}

}  // namespace
}  // namespace sapwood::test
