// Wrong or uncompilable steps: what is said, and that the training is left as eager LibTorch would leave it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "common/state.h"
#include "e2e/twins.h"

namespace sapwood::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// What the Error that `action` throws says; fails the test if it throws none or another type.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a sapwood::Error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Message of the first step with a loss function, on SmallNet and SGD.
std::string error_of_loss(const std::function<Tensors(SmallNet&, const Tensors&)>& loss) {
  Training training = small_training()();
  SmallNet net(std::dynamic_pointer_cast<SmallNetImpl>(training.model));
  return error_of([&] {
    TrainStep step(*training.model, *training.optimizer, [&](const Tensors& in) { return loss(net, in); });
    step.run(small_batch(0));
  });
}

TEST(TrainStepErrors, LossThatIsNotAScalar) {
  const std::string message = error_of_loss([](SmallNet& net, const Tensors& in) { return Tensors{net(in[0])}; });
  EXPECT_THAT(message, HasSubstr("scalar"));
  EXPECT_THAT(message, HasSubstr("[8, 3]"));
}

TEST(TrainStepErrors, LossThatIsNotTheFirst) {
  EXPECT_THAT(error_of_loss([](SmallNet& net, const Tensors& in) {
                const at::Tensor logits = net(in[0]);
                return Tensors{logits, at::cross_entropy_loss(logits, in[1])};
              }),
              HasSubstr("return the loss first"));
}

TEST(TrainStepErrors, ComplexLoss) {
  EXPECT_THAT(error_of_loss(
                  [](SmallNet& net, const Tensors& in) { return Tensors{at::complex(net(in[0]), net(in[0])).sum()}; }),
              HasSubstr("complex"));
}

TEST(TrainStepErrors, LossWithoutGradient) {
  EXPECT_THAT(error_of_loss([](SmallNet& net, const Tensors& in) {
                return Tensors{at::cross_entropy_loss(net(in[0]), in[1]).detach()};
              }),
              HasSubstr("grad"));
}

TEST(TrainStepErrors, NothingReturned) {
  EXPECT_THAT(error_of_loss([](SmallNet&, const Tensors&) { return Tensors{}; }), HasSubstr("loss"));
}

TEST(TrainStepErrors, UndefinedLoss) {
  EXPECT_THAT(error_of_loss([](SmallNet&, const Tensors&) { return Tensors{at::Tensor()}; }),
              HasSubstr("undefined loss"));
}

TEST(TrainStepErrors, OptimizerOfAnotherModel) {
  SmallNet net, other;
  torch::optim::SGD optimizer(other->parameters(), 0.1);
  const std::string message = error_of([&] {
    TrainStep step(*net, optimizer,
                   [&](const Tensors& in) { return Tensors{at::cross_entropy_loss(net(in[0]), in[1])}; });
    step.run(small_batch(0));
  });
  EXPECT_THAT(message, HasSubstr("optimizer"));
  EXPECT_THAT(message, HasSubstr("parameter"));
}

TEST(TrainStepErrors, NoParametersAtAll) {
  torch::nn::Module empty;
  torch::optim::SGD optimizer(std::vector<at::Tensor>{}, 0.1);
  const std::string message = error_of([&] {
    TrainStep step(empty, optimizer, [](const at::Tensor& x) { return x.sum(); });
    step(at::ones({2}));
  });
  EXPECT_THAT(message, HasSubstr("parameter"));
}

TEST(TrainStepErrors, UndefinedInput) {
  Training training = small_training()();
  TrainStep step(*training.model, *training.optimizer, training.fn);
  const std::string message = error_of([&] { step.run({small_batch(0)[0], at::Tensor()}); });
  EXPECT_THAT(message, HasSubstr("undefined"));
  EXPECT_THAT(message, HasSubstr("input 1"));
}

TEST(TrainStepErrors, UndefinedInputAfterReplays) {
  Training training = small_training()();
  TrainStep step(*training.model, *training.optimizer, training.fn);
  for (int64_t i = 0; i < 3; ++i) step.run(small_batch(i));
  const bench::NamedState before = bench::cloned(bench::named_state(*training.model, *training.optimizer));
  EXPECT_THAT(error_of([&] { step.run({at::Tensor(), small_batch(0)[1]}); }), HasSubstr("input 0"));
  EXPECT_EQ("", bench::first_difference(before, bench::named_state(*training.model, *training.optimizer)));
}

TEST(TrainStepErrors, WrongNumberOfInputs) {
  SmallNet net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  TrainStep step(*net, optimizer,
                 [&](const at::Tensor& x, const at::Tensor& y) { return at::cross_entropy_loss(net(x), y); });
  const std::string message = error_of([&] { step(small_batch(0)[0]); });
  EXPECT_THAT(message, HasSubstr("2 inputs"));
  EXPECT_THAT(message, HasSubstr("got 1"));
}

TEST(TrainStepErrors, InputsOnSeveralDevices) {
  Training training = small_training()();
  TrainStep step(*training.model, *training.optimizer, training.fn);
  Tensors batch = small_batch(0);
  batch[0] = batch[0].to(at::kMeta);
  try {
    step.run(batch);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("meta"));
  }
  for (int64_t i = 0; i < 3; ++i) step.run(small_batch(i));  // and the step is usable after it
  EXPECT_EQ(2, step.report().replayed_steps) << describe(step.report());
}

TEST(TrainStepErrors, IntegerInputCantNeedAGradientAndPassesWithoutOne) {
  EXPECT_THROW(at::ones({2}, at::kLong).set_requires_grad(true), c10::Error);
  Twins twins(small_training());
  twins.steps(3, [](int64_t i) {
    Tensors batch = small_batch(i);
    EXPECT_FALSE(batch[1].requires_grad());
    return batch;
  });
  twins.expect_equal_state();
}

/// SmallNet whose loss function asks the host for a value.
MakeTraining reads_a_value() {
  return [] {
    Training t = small_training()();
    t.fn = [net = std::dynamic_pointer_cast<SmallNetImpl>(t.model)](const Tensors& in) {
      const at::Tensor loss = at::cross_entropy_loss(net->forward(in[0]), in[1]);
      return Tensors{loss.item<double>() > 1.1 ? loss * 2 : loss};
    };
    return t;
  };
}

TEST(TrainStepFallback, ValueReadOnTheHostRunsEagerlyAndSaysWhyOnce) {
  Twins twins(reads_a_value());
  twins.steps(8, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  const Report report = twins.report();
  EXPECT_EQ(0, report.replayed_steps);
  EXPECT_EQ(8, report.eager_steps + report.captured_steps);
  ASSERT_EQ(1u, report.signatures.size());
  EXPECT_FALSE(report.signatures[0].compiled);
  EXPECT_THAT(report.signatures[0].fallback, AnyOf(HasSubstr("item"), HasSubstr("_local_scalar_dense")));
  ASSERT_THAT(twins.warnings(), testing::SizeIs(1));
  EXPECT_THAT(twins.warnings()[0], AnyOf(HasSubstr("item"), HasSubstr("_local_scalar_dense")));
}

TEST(TrainStepFallback, SizeThatDependsOnDataRunsEagerly) {
  Twins twins([] {
    Training t = small_training()();
    t.fn = [net = std::dynamic_pointer_cast<SmallNetImpl>(t.model)](const Tensors& in) {
      const at::Tensor kept = in[1].ne(0).nonzero().squeeze(1);
      return Tensors{at::cross_entropy_loss(net->forward(in[0].index_select(0, kept)), in[1].index_select(0, kept))};
    };
    return t;
  });
  twins.steps(6, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_EQ(0, twins.report().replayed_steps) << describe(twins.report());
  EXPECT_THAT(twins.report().signatures.at(0).fallback, HasSubstr("nonzero"));
}

struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Dropout and batch norm; the loss function throws in its call number `bad`, after both have run.
Training throws_in_call(int64_t bad) {
  torch::nn::Sequential net(torch::nn::Linear(6, 12), torch::nn::BatchNorm1d(12), torch::nn::Dropout(0.5),
                            torch::nn::Linear(12, 3));
  auto optimizer = std::make_shared<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  auto calls = std::make_shared<int64_t>(0);
  return {net.ptr(), optimizer, [=](const Tensors& in) mutable {
            const at::Tensor loss = at::cross_entropy_loss(net->forward(in[0]), in[1]);
            if ((*calls)++ == bad) throw Interrupted("the disk is full");
            return Tensors{loss};
          }};
}

TEST(TrainStepErrors, ExceptionOfTheLossPassesThroughAndLeavesWhatEagerLeaves) {
  Twins twins([] { return throws_in_call(0); });
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  torch::manual_seed(1);
  EXPECT_THROW(eager_step(twins.eager(), small_batch(0), {}, 0), Interrupted);
  const at::Tensor eager_random = generator.get_state();
  TrainStep step(*twins.sapwood().model, *twins.sapwood().optimizer, twins.sapwood().fn);
  torch::manual_seed(1);
  try {
    step.run(small_batch(0));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Interrupted& error) {
    EXPECT_STREQ("the disk is full", error.what());
  }
  EXPECT_TRUE(bench::bit_equal(eager_random, generator.get_state())) << "random generator";
  twins.expect_equal_state();

  torch::manual_seed(2);
  for (int64_t i = 0; i < 5; ++i) eager_step(twins.eager(), small_batch(i), {}, i);
  torch::manual_seed(2);
  for (int64_t i = 0; i < 5; ++i) step.run(small_batch(i));
  twins.expect_equal_state();
  EXPECT_EQ(4, step.report().replayed_steps) << describe(step.report());
}

TEST(TrainStepErrors, ExceptionInTheBackwardPassesThrough) {
  Training training = small_training()();
  bool armed = true;
  training.model->as<SmallNetImpl>()->in->weight.register_hook([&armed](const at::Tensor& gradient) -> at::Tensor {
    if (armed) throw Interrupted("no gradient today");
    return gradient;
  });
  const bench::NamedState before = bench::cloned(bench::named_state(*training.model, *training.optimizer));
  TrainStep step(*training.model, *training.optimizer, training.fn);
  EXPECT_THROW(step.run(small_batch(0)), Interrupted);
  EXPECT_EQ("", bench::first_difference(before, bench::named_state(*training.model, *training.optimizer)));
  armed = false;
  for (int64_t i = 0; i < 3; ++i) step.run(small_batch(i));
  EXPECT_EQ(2, step.report().replayed_steps) << describe(step.report());
}

}  // namespace
}  // namespace sapwood::test
