// What people do around the steps: accumulate, clip, switch modes, edit parameters, change shapes, freeze, move to
// threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "common/state.h"
#include "e2e/twins.h"

namespace sapwood::test {
namespace {

namespace optim = torch::optim;

MakeTraining adamw_training() {
  return small_training(
      [](SmallNet& net) { return std::make_shared<optim::AdamW>(net->parameters(), optim::AdamWOptions(1e-2)); });
}

Tensors batch_of(int64_t i) { return small_batch(i); }

TEST(Loop, FirstStepCapturesAndAllOthersReplay) {
  Twins twins(adamw_training());
  twins.steps(20, batch_of);
  twins.expect_equal_state();
  const Report report = twins.report();
  EXPECT_EQ(1, report.captured_steps);
  EXPECT_EQ(19, report.replayed_steps);
  EXPECT_EQ(0, report.eager_steps);
  ASSERT_EQ(1u, report.signatures.size());
  EXPECT_TRUE(report.signatures[0].compiled);
  EXPECT_EQ(19, report.signatures[0].replays);
  EXPECT_EQ(0.0, report.signatures[0].largest_difference);
  EXPECT_EQ(1, report.signatures[0].checks);
  EXPECT_THAT(twins.warnings(), testing::IsEmpty());
}

TEST(Loop, CheckEveryComparesReplaysWithEager) {
  Twins twins(adamw_training(), {.check_every = 3});
  twins.steps(12, batch_of);
  twins.expect_equal_state();
  EXPECT_GE(twins.report().signatures.at(0).checks, 3);
  EXPECT_EQ(0.0, twins.report().signatures.at(0).largest_difference);
}

TEST(Loop, GradientsAreLeftUndefinedByDefault) {
  Twins twins(adamw_training());
  twins.steps(4, batch_of);
  for (const at::Tensor& p : twins.sapwood().model->parameters()) EXPECT_FALSE(p.grad().defined());
}

TEST(Loop, KeepGradsLeavesTheGradientsOfEager) {
  Twins twins(adamw_training(), {.keep_grads = true});
  for (int64_t i = 0; i < 5; ++i) {
    twins.step(small_batch(i));
    twins.expect_equal_gradients();
  }
  EXPECT_EQ(4, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, KeptGradientsAreNotOverwrittenByTheNextStep) {
  Twins twins(adamw_training(), {.keep_grads = true});
  twins.steps(3, batch_of);
  const at::Tensor kept = twins.sapwood().model->parameters()[0].grad();
  const at::Tensor copy = kept.clone();
  twins.step(small_batch(3));
  EXPECT_TRUE(bench::bit_equal(copy, kept));
}

TEST(Loop, ReturnedLossIsNotOverwrittenByTheNextStep) {
  Training training = adamw_training()();
  TrainStep step(*training.model, *training.optimizer, training.fn);
  std::vector<at::Tensor> losses;
  std::vector<double> values;
  for (int64_t i = 0; i < 5; ++i) {
    losses.push_back(step.run(small_batch(i)).front());
    values.push_back(losses.back().item<double>());
  }
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_EQ(values[i], losses[i].item<double>()) << "loss " << i;
}

TEST(Loop, AccumulationUpdatesOnEveryFourthCall) {
  Twins twins(adamw_training(), {.accumulation_steps = 4});
  for (int64_t i = 0; i < 16; ++i) {
    twins.step(small_batch(i));
    twins.expect_equal_state();
  }
  EXPECT_GT(twins.report().replayed_steps, 8) << describe(twins.report());
}

TEST(Loop, AccumulationWithClipping) {
  Twins twins(adamw_training(), {.accumulation_steps = 2, .max_grad_norm = 0.05});
  twins.steps(12, batch_of);
  twins.expect_equal_state();
  EXPECT_GT(twins.report().replayed_steps, 5) << describe(twins.report());
}

TEST(Loop, ClippingByTheEuclideanNorm) {
  Twins twins(small_training(), {.max_grad_norm = 0.1});
  twins.steps(8, batch_of);
  twins.expect_equal_state();
  EXPECT_EQ(7, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, ClippingThatDoesNotBite) {
  Twins twins(small_training(), {.max_grad_norm = 1e6});
  twins.steps(8, batch_of);
  twins.expect_equal_state();
}

TEST(Loop, ClippingByTheLargestElement) {
  Twins twins(small_training(), {.max_grad_norm = 0.01, .clip_norm_type = std::numeric_limits<double>::infinity()});
  twins.steps(8, batch_of);
  twins.expect_equal_state();
}

TEST(Loop, SwitchingBetweenTrainingAndEvaluation) {
  const MakeTraining make = [] {
    torch::nn::Sequential net(torch::nn::Linear(6, 12), torch::nn::BatchNorm1d(12), torch::nn::Dropout(0.5),
                              torch::nn::Linear(12, 3));
    auto optimizer = std::make_shared<optim::SGD>(net->parameters(), 0.1);
    return Training{net.ptr(), optimizer, [net](const Tensors& in) mutable {
                      return Tensors{at::cross_entropy_loss(net->forward(in[0]), in[1])};
                    }};
  };
  Twins twins(make);
  for (int64_t i = 0; i < 12; ++i) {
    twins.both([i](Training& t) { t.model->train(i % 4 < 2); });
    twins.step(small_batch(i));
  }
  twins.expect_equal_state();
  EXPECT_EQ(2u, twins.report().signatures.size()) << describe(twins.report());
  EXPECT_EQ(10, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, ParametersEditedInPlaceBetweenSteps) {
  Twins twins(adamw_training());
  for (int64_t i = 0; i < 9; ++i) {
    twins.step(small_batch(i));
    if (i % 3 != 1) continue;
    twins.both([i](Training& t) {
      const at::NoGradGuard no_grad;
      at::Tensor p = t.model->parameters()[static_cast<size_t>(i) % 4];
      p.copy_(at::linspace(-0.5, 0.5, p.numel()).view_as(p));
    });
  }
  twins.expect_equal_state();
  EXPECT_EQ(8, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, ParameterWithNewMemory) {
  Twins twins(adamw_training());
  twins.steps(3, batch_of);
  twins.both([](Training& t) { t.model->parameters()[0].set_data(at::full({16, 6}, 0.25)); });
  twins.steps(3, batch_of);
  twins.expect_equal_state();
}

TEST(Loop, OptimizerStateEditedInPlace) {
  Twins twins(adamw_training());
  twins.steps(3, batch_of);
  twins.both([](Training& t) {
    for (auto& [key, state] : t.optimizer->state()) static_cast<optim::AdamWParamState&>(*state).exp_avg().zero_();
  });
  twins.steps(3, batch_of);
  twins.expect_equal_state();
}

TEST(Loop, TwoBatchShapesInTurn) {
  Twins twins(adamw_training());
  twins.steps(12, [](int64_t i) { return small_batch(i, i % 2 == 0 ? 8 : 5); });
  twins.expect_equal_state();
  EXPECT_EQ(2, twins.report().captured_steps) << describe(twins.report());
  EXPECT_EQ(10, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, InputsWithOtherStridesHaveEqualResults) {
  Twins twins(adamw_training());
  for (int64_t i = 0; i < 8; ++i) {
    Tensors batch = small_batch(i);
    if (i % 2 == 1) batch[0] = batch[0].t().contiguous().t();
    twins.step(batch);
  }
  twins.expect_equal_state();
}

TEST(Loop, TooManySignaturesRunEagerlyWithOneWarning) {
  Twins twins(adamw_training(), {.max_signatures = 2});
  twins.steps(15, [](int64_t i) { return small_batch(i, 4 + i % 5); });
  twins.expect_equal_state();
  EXPECT_EQ(2, twins.report().captured_steps) << describe(twins.report());
  EXPECT_GT(twins.report().eager_steps, 0) << describe(twins.report());
  EXPECT_THAT(twins.warnings(), testing::SizeIs(1));
}

TEST(Loop, FrozenParametersStayAsTheyAre) {
  Twins twins(small_training([](SmallNet& net) {
    for (at::Tensor& p : net->in->parameters()) p.set_requires_grad(false);
    return std::make_shared<optim::AdamW>(net->parameters(), optim::AdamWOptions(1e-2));
  }));
  const at::Tensor before = twins.sapwood().model->parameters()[0].clone();
  twins.steps(6, batch_of);
  twins.expect_equal_state();
  EXPECT_TRUE(bench::bit_equal(before, twins.sapwood().model->parameters()[0]));
  EXPECT_EQ(5, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, UnfreezingInTheMiddle) {
  Twins twins(small_training([](SmallNet& net) {
    for (at::Tensor& p : net->in->parameters()) p.set_requires_grad(false);
    return std::make_shared<optim::SGD>(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  }));
  twins.steps(4, batch_of);
  twins.both([](Training& t) {
    for (at::Tensor& p : t.model->parameters()) p.set_requires_grad(true);
  });
  twins.steps(4, batch_of);
  twins.expect_equal_state();
}

TEST(Loop, SeveralOutputsWithTheLossFirst) {
  Twins twins([] {
    Training t = small_training()();
    t.fn = [net = std::dynamic_pointer_cast<SmallNetImpl>(t.model)](const Tensors& in) {
      const at::Tensor logits = net->forward(in[0]);
      const at::Tensor hits = at::argmax(logits, 1).eq(in[1]).sum();
      return Tensors{at::cross_entropy_loss(logits, in[1]), hits, logits};
    };
    return t;
  });
  twins.steps(6, batch_of);
  twins.expect_equal_state();
  EXPECT_EQ(5, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Loop, InputThatNeedsAGradientGetsEagersGradient) {
  Twins twins(small_training());
  TrainStep step(*twins.sapwood().model, *twins.sapwood().optimizer, twins.sapwood().fn);
  for (int64_t i = 0; i < 4; ++i) {
    Tensors eager_batch = small_batch(i), batch = small_batch(i);
    eager_batch[0].set_requires_grad(true);
    batch[0].set_requires_grad(true);
    eager_step(twins.eager(), eager_batch, {}, i);
    step.run(batch);
    EXPECT_TRUE(bench::bit_equal(eager_batch[0].grad(), batch[0].grad())) << "step " << i << '\n'
                                                                          << describe(step.report());
  }
  twins.expect_equal_state();
}

TEST(Loop, MovedTrainStepGoesOn) {
  Twins twins(adamw_training());
  Training &eager = twins.eager(), &compiled = twins.sapwood();
  TrainStep first(*compiled.model, *compiled.optimizer, compiled.fn);
  for (int64_t i = 0; i < 2; ++i) {
    eager_step(eager, small_batch(i), {}, i);
    first.run(small_batch(i));
  }
  TrainStep second = std::move(first);
  for (int64_t i = 2; i < 5; ++i) {
    eager_step(eager, small_batch(i), {}, i);
    second.run(small_batch(i));
  }
  EXPECT_EQ(4, second.report().replayed_steps);
  twins.expect_equal_state();
}

TEST(Loop, TwoTrainStepsOnTwoThreadsAtOnce) {
  at::set_num_threads(1);
  constexpr int64_t kSteps = 200;
  std::vector<Training> trainings;
  for (uint64_t i = 0; i < 4; ++i) {
    torch::manual_seed(30 + i % 2);
    trainings.push_back(adamw_training()());
  }
  for (size_t k = 0; k < 2; ++k) {
    for (int64_t i = 0; i < kSteps; ++i) eager_step(trainings[k], small_batch(i), {}, i);
  }
  std::vector<std::thread> threads;
  for (size_t k = 2; k < 4; ++k) {
    threads.emplace_back([&trainings, k] {
      at::set_num_threads(1);
      TrainStep step(*trainings[k].model, *trainings[k].optimizer, trainings[k].fn);
      for (int64_t i = 0; i < kSteps; ++i) step.run(small_batch(i));
      EXPECT_EQ(kSteps - 1, step.report().replayed_steps);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ("", bench::first_difference(bench::named_state(*trainings[k].model, *trainings[k].optimizer),
                                          bench::named_state(*trainings[k + 2].model, *trainings[k + 2].optimizer)));
  }
}

TEST(Loop, OneTrainStepCalledFromTwoThreadsRunsStepsOneAfterTheOther) {
  Twins twins(small_training());
  for (int64_t i = 0; i < 200; ++i) eager_step(twins.eager(), small_batch(0), {}, i);
  TrainStep step(*twins.sapwood().model, *twins.sapwood().optimizer, twins.sapwood().fn);
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; ++k) {
    threads.emplace_back([&step] {
      at::set_num_threads(1);
      for (int64_t i = 0; i < 100; ++i) step.run(small_batch(0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  twins.expect_equal_state();
}

}  // namespace
}  // namespace sapwood::test
