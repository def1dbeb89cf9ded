// Programs that once crashed, hung or went wrong silently.

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace sapwood::test
