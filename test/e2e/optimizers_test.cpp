// Every optimizer that a step can end with: known ones are part of the graph, others run as they are. Results equal
// eager.

#include <gtest/gtest.h>

#include <sstream>

#include "e2e/twins.h"

namespace sapwood::test {
namespace {

namespace optim = torch::optim;

template <typename Optimizer, typename Options>
MakeTraining with(Options options) {
  return small_training([options](SmallNet& net) { return std::make_shared<Optimizer>(net->parameters(), options); });
}

/// Ten steps; all but the first must be replays of one compiled graph.
void expect_compiled_and_equal(const MakeTraining& make) {
  Twins twins(make);
  twins.steps(10, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_EQ(9, twins.report().replayed_steps) << describe(twins.report());
}

/// Ten steps with equal results, however they are run.
void expect_equal(const MakeTraining& make) {
  Twins twins(make);
  twins.steps(10, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
}

TEST(Optimizers, PlainSgd) { expect_compiled_and_equal(with<optim::SGD>(optim::SGDOptions(0.1))); }

TEST(Optimizers, SgdWithMomentum) { expect_compiled_and_equal(with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9))); }

TEST(Optimizers, SgdWithDampeningAndWeightDecay) {
  expect_compiled_and_equal(with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).dampening(0.3).weight_decay(0.01)));
}

TEST(Optimizers, SgdWithNesterovMomentum) {
  expect_compiled_and_equal(with<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01)));
}

TEST(Optimizers, Adam) { expect_compiled_and_equal(with<optim::Adam>(optim::AdamOptions(1e-2))); }

TEST(Optimizers, AdamWithAmsgradAndWeightDecay) {
  expect_compiled_and_equal(with<optim::Adam>(optim::AdamOptions(1e-2).amsgrad(true).weight_decay(0.1).eps(1e-6)));
}

TEST(Optimizers, AdamW) { expect_compiled_and_equal(with<optim::AdamW>(optim::AdamWOptions(1e-2).weight_decay(0.05))); }

TEST(Optimizers, AdamWWithAmsgradAndOtherBetas) {
  expect_compiled_and_equal(with<optim::AdamW>(optim::AdamWOptions(1e-2).amsgrad(true).betas({0.8, 0.95})));
}

TEST(Optimizers, ParameterGroupsWithOwnOptions) {
  expect_compiled_and_equal(small_training([](SmallNet& net) {
    std::vector<optim::OptimizerParamGroup> groups;
    groups.emplace_back(net->in->parameters(),
                        std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.02).weight_decay(0.2)));
    groups.emplace_back(net->out->parameters(),
                        std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.5).momentum(0.5)));
    return std::make_shared<optim::SGD>(groups, optim::SGDOptions(0.1));
  }));
}

TEST(Optimizers, OnlySomeOfTheParameters) {
  expect_compiled_and_equal(small_training(
      [](SmallNet& net) { return std::make_shared<optim::AdamW>(net->out->parameters(), optim::AdamWOptions(0.01)); }));
}

TEST(Optimizers, RmsPropGivesEagerResults) {
  expect_equal(with<optim::RMSprop>(optim::RMSpropOptions(1e-2).momentum(0.9).centered(true)));
}

TEST(Optimizers, AdagradGivesEagerResults) { expect_equal(with<optim::Adagrad>(optim::AdagradOptions(1e-2))); }

/// Steps against the gradient's sign: not what its base class does.
class SignSgd : public optim::SGD {
 public:
  using optim::SGD::SGD;
  at::Tensor step(LossClosure /*closure*/ = nullptr) override {
    const at::NoGradGuard no_grad;
    for (auto& group : param_groups()) {
      const double rate = group.options().get_lr();
      for (at::Tensor& p : group.params()) {
        if (p.grad().defined()) p.add_(p.grad().sign(), -rate);
      }
    }
    return {};
  }
};

TEST(Optimizers, SubclassOfAKnownOneRunsItsOwnStep) { expect_equal(with<SignSgd>(optim::SGDOptions(0.01))); }

TEST(Optimizers, LearningRateSetByHandTakesEffectAtOnce) {
  Twins twins(with<optim::AdamW>(optim::AdamWOptions(1e-2)));
  for (int64_t i = 0; i < 9; ++i) {
    twins.both(
        [&](Training& t) { t.optimizer->param_groups()[0].options().set_lr(1e-2 / static_cast<double>(i + 1)); });
    twins.step(small_batch(i));
  }
  twins.expect_equal_state();
  EXPECT_EQ(8, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Optimizers, StepLrScheduler) {
  Twins twins(with<optim::SGD>(optim::SGDOptions(0.3).momentum(0.9)));
  optim::StepLR eager(*twins.eager().optimizer, 2, 0.5), sapwood(*twins.sapwood().optimizer, 2, 0.5);
  for (int64_t i = 0; i < 9; ++i) {
    twins.step(small_batch(i));
    eager.step();
    sapwood.step();
  }
  twins.expect_equal_state();
  EXPECT_EQ(8, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Optimizers, OptionsOtherThanTheLearningRateTakeEffectToo) {
  Twins twins(with<optim::AdamW>(optim::AdamWOptions(1e-2)));
  twins.steps(4, [](int64_t i) { return small_batch(i); });
  twins.both([](Training& t) {
    auto& options = static_cast<optim::AdamWOptions&>(t.optimizer->param_groups()[0].options());
    options.weight_decay(0.3).betas({0.7, 0.9}).eps(1e-5);
  });
  twins.steps(4, [](int64_t i) { return small_batch(i + 4); });
  twins.expect_equal_state();
}

TEST(Optimizers, MomentumSwitchedOnLater) {
  Twins twins(with<optim::SGD>(optim::SGDOptions(0.1)));
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  twins.both(
      [](Training& t) { static_cast<optim::SGDOptions&>(t.optimizer->param_groups()[0].options()).momentum(0.9); });
  twins.steps(4, [](int64_t i) { return small_batch(i + 3); });
  twins.expect_equal_state();
}

TEST(Optimizers, SavedAndLoadedInTheMiddle) {
  Twins twins(with<optim::Adam>(optim::AdamOptions(1e-2).amsgrad(true)));
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  std::vector<std::string> saved;
  twins.both([&](Training& t) {
    std::ostringstream out;
    torch::save(*t.optimizer, out);
    saved.push_back(out.str());
  });
  twins.steps(3, [](int64_t i) { return small_batch(i + 3); });
  size_t side = 0;
  twins.both([&](Training& t) {
    std::istringstream in(saved[side++]);
    torch::load(*t.optimizer, in);
  });
  twins.steps(4, [](int64_t i) { return small_batch(i + 6); });
  twins.expect_equal_state();
}

TEST(Optimizers, ClearedStateStartsAgain) {
  Twins twins(with<optim::AdamW>(optim::AdamWOptions(1e-2)));
  twins.steps(4, [](int64_t i) { return small_batch(i); });
  twins.both([](Training& t) { t.optimizer->state().clear(); });
  twins.steps(4, [](int64_t i) { return small_batch(i + 4); });
  twins.expect_equal_state();
}

TEST(Optimizers, ParameterGroupAddedLater) {
  Twins twins(small_training(
      [](SmallNet& net) { return std::make_shared<optim::SGD>(net->out->parameters(), optim::SGDOptions(0.1)); }));
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  twins.both([](Training& t) { t.optimizer->add_param_group({t.model->as<SmallNetImpl>()->in->parameters()}); });
  twins.steps(4, [](int64_t i) { return small_batch(i + 3); });
  twins.expect_equal_state();
}

}  // namespace
}  // namespace sapwood::test
