// What models are made of: tied weights, norms, dropout, buffers, constants, own autograd functions, hooks, recurrent
// layers, views.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/gpt_model.h"
#include "e2e/twins.h"

namespace sapwood::test {
namespace {

namespace nn = torch::nn;
namespace optim = torch::optim;

using Forward = std::function<at::Tensor(const Tensors&)>;

/// AdamW on `model`; the loss is what `forward` returns.
Training training_of(const std::shared_ptr<nn::Module>& model, Forward forward) {
  auto optimizer = std::make_shared<optim::AdamW>(model->parameters(), optim::AdamWOptions(1e-2));
  return {model, optimizer, [forward = std::move(forward)](const Tensors& in) { return Tensors{forward(in)}; }};
}

/// `net` on the first input, cross entropy against the second.
Training classifier(nn::Sequential net) {
  return training_of(net.ptr(),
                     [net](const Tensors& in) mutable { return at::cross_entropy_loss(net->forward(in[0]), in[1]); });
}

void expect_replayed_and_equal(
    Twins& twins, const std::function<Tensors(int64_t)>& inputs = [](int64_t i) { return small_batch(i); }) {
  twins.steps(8, inputs);
  twins.expect_equal_state();
  EXPECT_EQ(7, twins.report().replayed_steps) << describe(twins.report());
}

TEST(Modules, LayerNormAndDropoutDrawEagersRandomNumbers) {
  Twins twins([] {
    return classifier(nn::Sequential(nn::Linear(6, 20), nn::LayerNorm(nn::LayerNormOptions({20})), nn::ReLU(),
                                     nn::Dropout(0.3), nn::Linear(20, 20), nn::GELU(), nn::Dropout(0.5),
                                     nn::Linear(20, 3)));
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, NoiseDrawnInsideTheStep) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      return at::cross_entropy_loss(net(in[0] + 0.1 * at::randn_like(in[0])), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, BatchNormUpdatesItsRunningStatistics) {
  Twins twins(
      [] { return classifier(nn::Sequential(nn::Linear(6, 10), nn::BatchNorm1d(10), nn::ReLU(), nn::Linear(10, 3))); });
  expect_replayed_and_equal(twins);
}

TEST(Modules, BatchNormWithAveragingOverAllSteps) {
  Twins twins([] {
    const auto options = nn::BatchNormOptions(10).momentum(std::nullopt);
    return classifier(nn::Sequential(nn::Linear(6, 10), nn::BatchNorm1d(options), nn::ReLU(), nn::Linear(10, 3)));
  });
  twins.steps(8,
              [](int64_t i) { return small_batch(i); });  // its factor is read on the host: such a step may run eagerly
  twins.expect_equal_state();
}

TEST(Modules, BatchNormWithoutRunningStatistics) {
  Twins twins([] {
    const auto options = nn::BatchNormOptions(10).track_running_stats(false);
    return classifier(nn::Sequential(nn::Linear(6, 10), nn::BatchNorm1d(options), nn::ReLU(), nn::Linear(10, 3)));
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, TiedWeights) {
  Twins twins([] {
    auto model = std::make_shared<bench::Gpt>(
        bench::GptShape{.vocabulary = 11, .context = 8, .layers = 2, .heads = 2, .width = 16});
    return training_of(model, [model](const Tensors& in) { return model->loss(in[0], in[1]); });
  });
  expect_replayed_and_equal(twins, [](int64_t i) {
    at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(i));
    return Tensors{at::randint(0, 11, {3, 8}, generator, at::kLong), at::randint(0, 11, {3, 8}, generator, at::kLong)};
  });
}

TEST(Modules, OneModuleRegisteredTwice) {
  Twins twins([] {
    nn::Linear shared(6, 6), head(6, 3);
    Training training = classifier(nn::Sequential(shared, nn::Tanh(), shared, nn::Tanh(), head));
    std::vector<at::Tensor> distinct = shared->parameters();
    for (const at::Tensor& p : head->parameters()) distinct.push_back(p);
    training.optimizer = std::make_shared<optim::AdamW>(distinct, optim::AdamWOptions(1e-2));
    return training;
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, ParameterThatTheOptimizerHasTwiceIsUpdatedTwice) {
  Twins twins([] {
    nn::Linear shared(6, 6);
    return classifier(nn::Sequential(shared, nn::Tanh(), shared, nn::Tanh(), nn::Linear(6, 3)));
  });
  twins.steps(8, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
}

/// Passes the sign on, with the gradient of the identity where |x| <= 1.
struct StraightThrough : torch::autograd::Function<StraightThrough> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return at::sign(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {gradients[0] * x.abs().le(1).to(gradients[0].scalar_type())};
  }
};

TEST(Modules, OwnAutogradFunction) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      return at::cross_entropy_loss(net->out(StraightThrough::apply(net->in(in[0]))), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, HookOnAGradient) {
  Twins twins([] {
    SmallNet net;
    net->in->weight.register_hook([](const at::Tensor& gradient) { return gradient * 0.5; });
    return training_of(net.ptr(),
                       [net](const Tensors& in) mutable { return at::cross_entropy_loss(net(in[0]), in[1]); });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, HooksThatComeAndGo) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(),
                       [net](const Tensors& in) mutable { return at::cross_entropy_loss(net(in[0]), in[1]); });
  });
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  std::vector<std::pair<at::Tensor, unsigned>> hooks;
  twins.both([&](Training& training) {
    const at::Tensor weight = training.model->named_parameters()["in.weight"];
    hooks.emplace_back(weight, weight.register_hook([](const at::Tensor& g) { return g * 0.25; }));
  });
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  for (const auto& [weight, hook] : hooks) weight.remove_hook(hook);
  twins.steps(3, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_EQ(3, twins.report().captured_steps) << describe(twins.report());
}

// First tensors of the model are the input, then others are.
TEST(Modules, InputsThatAreTensorsOfTheModel) {
  for (const std::string name : {"in.weight", "held"}) {
    Twins twins([&] {
      SmallNet net;
      const at::Tensor held = net->register_buffer("held", at::ones({16, 6}));
      const at::Tensor added = name == "held" ? held : net->in->weight;
      return training_of(net.ptr(), [net, added, labels = small_batch(0)[1]](const Tensors& in) mutable {
        return at::cross_entropy_loss(net((in[0] + added).slice(0, 0, 8)), labels);
      });
    });
    for (int i = 0; i < 4; ++i)
      twins.step_on([&](Training& training) {
        const auto parameters = training.model->named_parameters(), buffers = training.model->named_buffers();
        return Tensors{(name == "held" ? buffers : parameters)[name].detach()};
      });
    twins.steps(4, [](int64_t) { return Tensors{at::full({16, 6}, 0.5)}; });
    twins.expect_equal_state();
    EXPECT_EQ(2, twins.report().captured_steps + twins.report().eager_steps) << describe(twins.report());
  }
}

// Views at an offset into a larger tensor, written through views of themselves.
TEST(Modules, InputsAtAnOffsetThatAreWritten) {
  TrainStepOptions options;
  options.check_every = -1;
  Twins twins(
      [] {
        SmallNet net;
        return training_of(net.ptr(), [net](const Tensors& in) mutable {
          in[0].clamp_(-1, 1);
          in[0].select(0, 1).fill_(0.5);
          in[0].t().select(0, 2).clamp_(-0.25, 0.25);
          return at::cross_entropy_loss(net(in[0].clone()), in[1]);
        });
      },
      options);
  expect_replayed_and_equal(twins, [](int64_t i) {
    const Tensors batch = small_batch(i);
    return Tensors{at::cat({batch[0], batch[0]}, 1).slice(1, 1, 7), batch[1]};
  });
}

TEST(Modules, ConvolutionsPoolingAndConcatenation) {
  Twins twins([] {
    nn::Conv2d a(nn::Conv2dOptions(2, 4, 3).padding(1)), b(nn::Conv2dOptions(2, 4, 1));
    nn::Linear head(8, 3);
    auto model = std::make_shared<nn::Module>();
    model->register_module("a", a);
    model->register_module("b", b);
    model->register_module("head", head);
    return training_of(model, [=](const Tensors& in) mutable {
      const at::Tensor image = in[0].view({-1, 2, 4, 4});
      const at::Tensor joined =
          at::cat({at::max_pool2d(at::relu(a(image)), 2), at::avg_pool2d(at::silu(b(image)), 2)}, 1);
      return at::cross_entropy_loss(head(at::adaptive_avg_pool2d(joined, {1, 1}).flatten(1)), in[1]);
    });
  });
  expect_replayed_and_equal(twins, [](int64_t i) {
    at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(i));
    return Tensors{at::randn({5, 32}, generator), at::randint(0, 3, {5}, generator, at::kLong)};
  });
}

// Copies within a tensor: circular padding's parts don't overlap; those of a shift do.
TEST(Modules, CircularPaddingAndShiftsInPlace) {
  const auto make = [](bool shift) {
    nn::Conv1d conv(nn::Conv1dOptions(2, 3, 3).padding(2).padding_mode(torch::kCircular));
    return training_of(conv.ptr(), [conv, shift](const Tensors& in) mutable {
      at::Tensor y = conv(in[0].view({8, 2, 3})).mean(2);
      if (shift) y.slice(1, 1, 3).copy_(y.slice(1, 0, 2));
      return at::cross_entropy_loss(y, in[1]);
    });
  };
  Twins circular([&] { return make(false); });
  expect_replayed_and_equal(circular);
  Twins shifted([&] { return make(true); });
  shifted.steps(4, [](int64_t i) { return small_batch(i); });
  shifted.expect_equal_state();
  EXPECT_THAT(shifted.warnings().at(0), testing::HasSubstr("overlap partly"));
}

TEST(Modules, RecurrentLayersOverTime) {
  Twins twins([] {
    nn::GRU gru(nn::GRUOptions(6, 7).num_layers(2));
    nn::Linear head(7, 3);
    auto model = std::make_shared<nn::Module>();
    model->register_module("gru", gru);
    model->register_module("head", head);
    return training_of(model, [=](const Tensors& in) mutable {
      const at::Tensor states = std::get<0>(gru(in[0].view({4, 2, 6})));
      return at::cross_entropy_loss(head(states.flatten(0, 1)), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, InPlaceOperationsAndViews) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      at::Tensor hidden = net->in(in[0]);
      hidden.mul_(0.5).add_(1);
      hidden.select(1, 7).zero_();
      hidden.narrow(1, 0, 4).relu_();
      return at::cross_entropy_loss(net->out(hidden.t().contiguous().t()), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, BufferThatTheLossWrites) {
  Twins twins([] {
    SmallNet net;
    at::Tensor mean = net->register_buffer("mean", at::zeros({16}));
    return training_of(net.ptr(), [net, mean](const Tensors& in) mutable {
      const at::Tensor hidden = net->in(in[0]);
      mean.mul_(0.9).add_(hidden.detach().mean(0), 0.1);
      return at::cross_entropy_loss(net->out(at::tanh(hidden - mean)), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, TensorOutsideOfTheModuleIsReadAnewInEveryStep) {
  std::vector<at::Tensor> scales;
  Twins twins([&scales] {
    SmallNet net;
    const at::Tensor scale = at::full({}, 1.0);
    scales.push_back(scale);
    return training_of(net.ptr(), [net, scale](const Tensors& in) mutable {
      return at::cross_entropy_loss(net(in[0]) * scale, in[1]);
    });
  });
  for (int64_t i = 0; i < 6; ++i) {
    for (at::Tensor& scale : scales) scale.fill_(1.0 + 0.5 * static_cast<double>(i));
    twins.step(small_batch(i));
  }
  twins.expect_equal_state();
}

TEST(Modules, DoublePrecision) {
  Twins twins([] {
    SmallNet net;
    net->to(at::kDouble);
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      return at::cross_entropy_loss(net(in[0].to(at::kDouble)), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, PartOfTheModelWithoutGradient) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      at::Tensor features;
      {
        const at::NoGradGuard no_grad;
        features = at::tanh(net->in(in[0]));
      }
      return at::cross_entropy_loss(net->out(features), in[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, GradientPenaltyNeedsASecondBackward) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      const at::Tensor x = in[0].detach().requires_grad_(true);
      const at::Tensor loss = at::cross_entropy_loss(net(x), in[1]);
      const at::Tensor gradient =
          torch::autograd::grad({loss}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
      return loss + 0.1 * gradient.pow(2).sum();
    });
  });
  twins.steps(6, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
}

/// A second network that isn't the optimizer's: targets come from it, and it follows the first.
TEST(Modules, TargetNetworkThatFollows) {
  Twins twins([] {
    SmallNet net, target;
    auto model = std::make_shared<nn::Module>();
    model->register_module("net", net);
    return training_of(model, [net, target](const Tensors& in) mutable {
      at::Tensor wanted;
      {
        const torch::NoGradGuard no_grad;
        wanted = target(in[0]).softmax(1);
        const auto from = net->parameters(), to = target->parameters();
        for (size_t i = 0; i < to.size(); ++i) to[i].mul_(0.9).add_(from[i], 0.1);
      }
      const at::Tensor frozen = target(in[0]).detach();  // computed with gradients, but none flows
      return at::cross_entropy_loss(net(in[0]), wanted) + at::mse_loss(net(in[0]), frozen);
    });
  });
  expect_replayed_and_equal(twins);
}

TEST(Modules, GradientsIntoAModelOfSomeoneElseRunEagerly) {
  std::vector<at::Tensor> others;
  Twins twins([&] {
    SmallNet net, critic;
    others.push_back(critic->out->weight);
    auto model = std::make_shared<nn::Module>();
    model->register_module("net", net);
    return training_of(model, [net, critic](const Tensors& in) mutable {
      const at::Tensor judged = critic(at::cat({net(in[0]), net(in[0])}, 1));
      return at::cross_entropy_loss(judged, in[1]);
    });
  });
  twins.steps(5, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_TRUE(at::equal(others[0].grad(), others[1].grad()));
  EXPECT_THAT(twins.warnings().at(0), testing::HasSubstr("set requires_grad_(false)"));
}

/// Self-attention as LibTorch's own layers compute it.
TEST(Modules, MultiheadAttentionAndTransformerLayers) {
  Twins twins([] {
    nn::Linear in(6, 8), head(8, 3);
    nn::MultiheadAttention attention(nn::MultiheadAttentionOptions(8, 2).dropout(0.1));
    nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).dropout(0.1));
    auto model = std::make_shared<nn::Module>();
    model->register_module("in", in);
    model->register_module("attention", attention);
    model->register_module("layer", layer);
    model->register_module("head", head);
    return training_of(model, [=](const Tensors& batch) mutable {
      const at::Tensor x = in(batch[0].view({4, 2, 6}));
      const at::Tensor attended = std::get<0>(attention(x, x, x));
      return at::cross_entropy_loss(head(layer(attended)).flatten(0, 1), batch[1]);
    });
  });
  expect_replayed_and_equal(twins);
}

/// In 16 bits every rounding shows: each operator of an update must round where eager's does.
TEST(Modules, LowPrecision) {
  const auto momentum = optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01).nesterov(true);
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const bool adam : {false, true}) {
      Twins twins([&] {
        nn::Sequential net(nn::Linear(6, 32), nn::LayerNorm(nn::LayerNormOptions({32})), nn::GELU(), nn::Linear(32, 3));
        net->to(type);
        Training training = training_of(net.ptr(), [net, type](const Tensors& in) mutable {
          at::Tensor y = net->forward(in[0].to(type));
          y.mul_(0.7);
          return at::cross_entropy_loss(y, in[1]);
        });
        if (!adam) training.optimizer = std::make_shared<optim::SGD>(net->parameters(), momentum);
        return training;
      });
      SCOPED_TRACE(std::string(c10::toString(type)) + (adam ? " AdamW" : " SGD"));
      expect_replayed_and_equal(twins);
    }
  }
}

TEST(Modules, GradientsThatDependOnZerosRunEagerly) {
  Twins twins([] {
    SmallNet net;
    return training_of(net.ptr(), [net](const Tensors& in) mutable {
      return at::cross_entropy_loss(net(in[0]), in[1]) + 1e-3 * (1.0 + net->in->weight).prod(1).mean();
    });
  });
  twins.steps(5, [](int64_t i) { return small_batch(i); });
  twins.expect_equal_state();
  EXPECT_THAT(twins.warnings().at(0), testing::HasSubstr("aten.prod"));
}

}  // namespace
}  // namespace sapwood::test
