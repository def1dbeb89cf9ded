// Random training steps: views, writes through views, random numbers, buffers, mixed dtypes, every optimizer and
// option. A failing seed is printed; SAPWOOD_SEED=<n> runs that one alone.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <random>

#include "common/state.h"
#include "e2e/twins.h"

namespace sapwood::test {
namespace {

namespace nn = torch::nn;
namespace optim = torch::optim;

constexpr int64_t kN = 6;  // every value of a program is float32[kN, kN]

/// One operation of a program: which, and on which earlier values.
struct Instruction {
  uint32_t op = 0;
  size_t a = 0, b = 0, c = 0;
};

struct Values {
  const Instruction& i;
  std::vector<at::Tensor>& all;
  at::Tensor a() const { return all[i.a]; }
  at::Tensor b() const { return all[i.b]; }
  at::Tensor c() const { return all[i.c]; }
};

/// What a program works on besides its inputs.
struct NetImpl : nn::Module {
  explicit NetImpl(size_t parameters) {
    for (size_t i = 0; i < parameters; ++i)
      weights.push_back(register_parameter("w" + std::to_string(i), torch::randn({kN, kN}) * 0.5));
    bias = register_parameter("bias", torch::randn({kN}) * 0.5);
    scale = register_parameter("scale", torch::ones({}));
    mean = register_buffer("mean", torch::zeros({kN, kN}));
    count = register_buffer("count", torch::zeros({}, at::kLong));
  }
  std::vector<at::Tensor> weights;
  at::Tensor bias, scale, mean, count;
};

using Operation = at::Tensor (*)(NetImpl&, const Values&);

at::Tensor write_rows(at::Tensor target, const at::Tensor& from) {
  target.slice(0, 1, 4).copy_(from.slice(0, 0, 3));
  return target;
}

const Operation kOperations[] = {
    [](NetImpl&, const Values& v) { return at::tanh(v.a()); },
    [](NetImpl&, const Values& v) { return at::gelu(v.a()); },
    [](NetImpl&, const Values& v) { return at::softmax(v.a(), 1); },
    [](NetImpl&, const Values& v) { return at::silu(v.a()) * 0.7; },
    [](NetImpl&, const Values& v) { return at::relu(v.a() - 0.1); },
    [](NetImpl&, const Values& v) { return at::exp(v.a().clamp(-2, 1)); },
    [](NetImpl&, const Values& v) { return v.a() + v.b(); },
    [](NetImpl&, const Values& v) { return v.a() * v.b(); },
    [](NetImpl&, const Values& v) { return v.a() - 0.5 * v.b(); },
    [](NetImpl&, const Values& v) { return at::tanh(at::matmul(v.a(), v.b())); },
    [](NetImpl& net, const Values& v) { return at::tanh(at::linear(v.a(), v.b(), net.bias)); },
    [](NetImpl&, const Values& v) { return at::where(v.a() > v.b(), v.a(), v.c()); },
    [](NetImpl&, const Values& v) { return at::maximum(v.a(), v.b()); },
    [](NetImpl&, const Values& v) { return at::layer_norm(v.a(), {kN}) * 0.5; },
    [](NetImpl&, const Values& v) { return v.a().t(); },
    [](NetImpl&, const Values& v) { return v.a().reshape({-1}).view({kN, kN}).flip(0); },
    [](NetImpl&, const Values& v) { return at::cat({v.a().slice(1, 2), v.b().slice(1, 0, 2)}, 1); },
    [](NetImpl&, const Values& v) { return v.a().sum(0, true).expand({kN, kN}) * 0.1; },
    [](NetImpl&, const Values& v) { return v.a() * v.b().mean(1, true); },
    [](NetImpl&, const Values& v) { return v.a() - v.a().amax(1, true); },
    [](NetImpl&, const Values& v) { return v.a().cumsum(1) * 0.2; },
    [](NetImpl&, const Values& v) { return std::get<0>(v.a().sort(1)); },
    [](NetImpl&, const Values& v) { return v.a().index_select(0, v.b().argsort(int64_t{1}).select(1, 0)); },
    [](NetImpl&, const Values& v) { return v.a().gather(1, v.b().detach().argmax(1, true)).expand({kN, kN}); },
    [](NetImpl&, const Values& v) { return at::dropout(v.a(), 0.3, true); },
    [](NetImpl&, const Values& v) { return v.a() + 0.1 * at::randn_like(v.a()); },
    [](NetImpl&, const Values& v) { return v.a() * at::empty_like(v.a()).bernoulli_(0.5); },
    [](NetImpl&, const Values& v) { return v.a().detach() * v.b(); },
    [](NetImpl& net, const Values& v) { return v.a() * net.scale; },
    [](NetImpl&, const Values& v) { return (v.a().to(at::kDouble) * 0.1 + v.b()).to(at::kFloat); },
    [](NetImpl&, const Values& v) { return v.a().to(at::kBFloat16).mul(0.3).to(at::kFloat); },
    [](NetImpl&, const Values& v) { return v.a().clone().mul_(0.7).add_(v.b(), 0.3); },
    [](NetImpl&, const Values& v) { return write_rows(v.a().clone(), v.b()); },
    [](NetImpl&, const Values& v) { return write_rows(at::zeros_like(v.a()), v.b()).add_(v.a()); },
    [](NetImpl&, const Values& v) {
      at::Tensor y = v.a() * 1.0;
      y.t().select(0, 2).mul_(0.5);
      y.diagonal().add_(v.b().diagonal());
      return y;
    },
    [](NetImpl&, const Values& v) {
      at::Tensor y = v.a() + 0.0, seen = y.slice(1, 1, 3);
      y.add_(v.b());
      return at::cat({seen, y.slice(1, 0, 4)}, 1);
    },
    [](NetImpl&, const Values& v) {
      at::Tensor y = at::empty({kN, kN});
      at::mul_out(y, v.a().detach(), v.b().detach());
      return y + v.c();
    },
    [](NetImpl& net, const Values& v) {
      const torch::NoGradGuard no_grad;
      net.mean.mul_(0.9).add_(v.a(), 0.1);
      net.count.add_(1);
      return net.mean.clone();
    },
    [](NetImpl& net, const Values& v) { return v.a() + net.mean.detach().clone() / (1 + net.count); },
    [](NetImpl&, const Values& v) {
      return at::mse_loss(v.a(), v.b(), at::Reduction::None).add(1e-3).sqrt().clamp_max(1.0);
    },
    [](NetImpl&, const Values& v) { return v.a().unsqueeze(0).repeat({2, 1, 1}).sum(0) * 0.4; },
    [](NetImpl&, const Values& v) { return at::addmm(v.a(), v.b(), v.c(), 0.5, 0.1).clamp(-3, 3); },
    [](NetImpl&, const Values& v) { return at::stack(v.a().unbind(0), 1); },
    [](NetImpl&, const Values& v) {
      const auto parts = v.a().chunk(3, 1);
      return at::cat({parts[2], parts[0] * parts[1], parts[1]}, 1);
    },
    [](NetImpl&, const Values& v) { return v.a().masked_fill(v.b() > 0.2, 0.1); },
    [](NetImpl&, const Values& v) {
      return at::zeros({kN, kN}).index_add(0, v.b().argsort(int64_t{0}).select(1, 0), v.a());
    },
    [](NetImpl&, const Values& v) { return v.a().pow(2).mul(0.3) + v.b().abs().add(1e-3).sqrt(); },
    [](NetImpl&, const Values& v) {
      at::Tensor y = at::empty({kN, kN});
      y.slice(1, 0, 2).copy_(v.a().slice(1, 4));
      y.slice(1, 2).copy_(v.b().slice(1, 0, 4));
      y.slice(0, 0, 2).copy_(y.slice(0, 4));
      return y * at::stack({v.c()[0], torch::tensor({1.F, 0.F, 2.F, 0.5F, 0.F, 1.F})}).mean(0);
    },
    [](NetImpl&, const Values& v) { return at::conv1d(v.a().unsqueeze(0), v.b().unsqueeze(2)).squeeze(0) * 0.3; },
};

/// A training made of one seed.
class RandomTraining {
 public:
  explicit RandomTraining(uint32_t seed) : random_(seed) {
    parameters_ = 1 + random_() % 4;
    const size_t length = 4 + random_() % 24;
    size_t known = parameters_ + 2;  // the inputs come last
    for (size_t k = 0; k < length; ++k, ++known)
      program_.push_back(
          {static_cast<uint32_t>(random_() % std::size(kOperations)), pick(known), pick(known), pick(known)});
    options.partitioner = std::array{Partitioner::kAuto, Partitioner::kDefault, Partitioner::kMinCut}[random_() % 3];
    options.keep_grads = random_() % 4 == 0;
    options.accumulation_steps = random_() % 4 == 0 ? 2 : 1;
    if (random_() % 4 == 0) options.max_grad_norm = 0.5;
    options.check_every = random_() % 3 == 0 ? 3 : 0;
    optimizer_ = random_() % 4;
  }

  Training make() const {
    auto net = std::make_shared<NetImpl>(parameters_);
    return {net, make_optimizer(net->parameters()), [net, program = program_](const Tensors& in) {
              std::vector<at::Tensor> all = net->weights;
              all.insert(all.end(), in.begin(), in.end());
              for (const Instruction& i : program) all.push_back(kOperations[i.op](*net, {i, all}));
              at::Tensor loss = (all.back() * all[all.size() / 2]).mean();
              for (const at::Tensor& w : net->weights) loss = loss + 0.01 * w.square().mean();
              return Tensors{loss, all.back()};
            }};
  }

  static Tensors inputs(int64_t step) {
    at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(step));
    return {at::randn({kN, kN}, generator), at::rand({kN, kN}, generator)};
  }

  TrainStepOptions options;

 private:
  /// Late values more often than early ones.
  size_t pick(size_t known) { return std::max(random_() % known, random_() % known); }

  std::shared_ptr<optim::Optimizer> make_optimizer(const std::vector<at::Tensor>& parameters) const {
    switch (optimizer_) {
      case 0:
        return std::make_shared<optim::SGD>(parameters, optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
      case 1:
        return std::make_shared<optim::Adam>(parameters, optim::AdamOptions(0.02).amsgrad(true).weight_decay(0.01));
      case 2:
        return std::make_shared<optim::AdamW>(parameters, optim::AdamWOptions(0.02));
      default:
        return std::make_shared<optim::SGD>(parameters, optim::SGDOptions(0.1).weight_decay(0.01));
    }
  }

  std::mt19937 random_;
  size_t parameters_ = 0;
  std::vector<Instruction> program_;
  size_t optimizer_ = 0;
};

uint32_t number_from(const char* variable, uint32_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// The seeds to try: SAPWOOD_SEED alone, or SAPWOOD_SEEDS of them.
std::vector<uint32_t> seeds(uint32_t count) {
  if (std::getenv("SAPWOOD_SEED") != nullptr) return {number_from("SAPWOOD_SEED", 0)};
  std::vector<uint32_t> result(number_from("SAPWOOD_SEEDS", count));
  std::iota(result.begin(), result.end(), 0U);
  return result;
}

TEST(RandomTrainings, EqualEagerBitForBit) {
  int64_t replayed = 0;
  for (const uint32_t seed : seeds(300)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomTraining random(seed);
    Twins twins([&] { return random.make(); }, random.options);
    twins.steps(6, RandomTraining::inputs);
    twins.expect_equal_state();
    if (random.options.keep_grads) twins.expect_equal_gradients();
    replayed += twins.report().replayed_steps;
    for (const std::string& warning : twins.warnings()) ADD_FAILURE() << "ran eagerly: " << warning;
    if (HasFailure()) return;
  }
  EXPECT_GT(replayed, 0);
}

/// Everything that a loop around `fn` leaves behind: results, gradients of inputs and parameters, parameters, buffers
/// and the generator's state, of every step. `of_result` is a further loss.
Tensors loop_around(const CompiledFunction::Fn& fn, Training& training,
                    const std::function<at::Tensor(const at::Tensor&)>& of_result) {
  Tensors left;
  for (int64_t step = 0; step < 5; ++step) {
    Tensors inputs = RandomTraining::inputs(step);
    inputs[0].requires_grad_();
    training.optimizer->zero_grad();
    const Tensors results = fn(inputs);
    (results[1].requires_grad() ? results[0] + of_result(results[1]) : results[0]).backward();
    training.optimizer->step();
    for (const at::Tensor& result : results) left.push_back(result.detach());
    left.push_back(inputs[0].grad());
    for (const at::Tensor& p : training.model->parameters()) {
      left.push_back(p.grad());
      left.push_back(p.detach().clone());
    }
    for (const at::Tensor& b : training.model->buffers()) left.push_back(b.clone());
    left.push_back(at::detail::getDefaultCPUGenerator().get_state());
  }
  return left;
}

/// Losses whose gradients come in several layouts. Not among them: sum(), whose gradient is expanded, and losses that
/// ignore the result, where the backward equals eager's within rounding only.
const std::array<std::function<at::Tensor(const at::Tensor&)>, 3> kLosses = {
    [](const at::Tensor& y) { return y.square().mean(); },
    [](const at::Tensor& y) { return at::tanh(y.t()).mean(); },
    [](const at::Tensor& y) { return at::log_softmax(y, 1).select(1, 2).mean(); },
};

TEST(RandomTrainings, CompiledFunctionsEqualEagerBitForBit) {
  at::set_num_threads(1);
  int64_t replayed = 0;
  for (const uint32_t seed : seeds(200)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomTraining random(seed);
    torch::manual_seed(seed);
    Training eager = random.make();
    const Tensors expected = loop_around(eager.fn, eager, kLosses[seed % kLosses.size()]);

    torch::manual_seed(seed);
    Training compiled = random.make();
    CompileOptions options;
    options.partitioner = random.options.partitioner;
    options.log = [](std::string_view warning) { ADD_FAILURE() << "ran eagerly: " << warning; };
    const CompiledFunction fn = sapwood::compile(compiled.fn, options);
    const Tensors actual =
        loop_around([&](const Tensors& in) { return fn.run(in); }, compiled, kLosses[seed % kLosses.size()]);

    ASSERT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_TRUE(bench::bit_equal(expected[i], actual[i]))
          << "tensor " << i << " of " << expected.size() << "\neager   " << expected[i] << "\nsapwood " << actual[i]
          << "\n"
          << describe(fn.report());
    replayed += fn.report().replayed_steps;
    if (HasFailure()) return;
  }
  EXPECT_GT(replayed, 0);
}

}  // namespace
}  // namespace sapwood::test
