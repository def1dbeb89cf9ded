#include "e2e/twins.h"

#include <sstream>

#include "common/state.h"

namespace sapwood::test {

namespace {

constexpr uint64_t kSeed = 20;

Training seeded(const MakeTraining& make) {
  at::set_num_threads(1);
  torch::manual_seed(kSeed);
  return make();
}

TrainStepOptions with_log(TrainStepOptions options, const std::shared_ptr<std::vector<std::string>>& lines) {
  options.log = [lines](std::string_view line) { lines->emplace_back(line); };
  return options;
}

}  // namespace

Tensors eager_step(Training& training, const Tensors& inputs, const TrainStepOptions& options, int64_t call) {
  const int64_t turn = options.accumulation_steps;
  if (call % turn == 0) training.optimizer->zero_grad();
  Tensors outputs = training.fn(inputs);
  outputs.front().backward();
  if (call % turn == turn - 1) {
    if (options.max_grad_norm) {
      torch::nn::utils::clip_grad_norm_(training.model->parameters(), *options.max_grad_norm, options.clip_norm_type);
    }
    training.optimizer->step();
  }
  for (at::Tensor& output : outputs) output = output.detach();
  return outputs;
}

Twins::Twins(const MakeTraining& make, const TrainStepOptions& options)
    : options_(options),
      eager_(seeded(make)),
      sapwood_(seeded(make)),
      eager_random_(at::detail::getDefaultCPUGenerator().get_state()),
      sapwood_random_(eager_random_.clone()),
      step_(*sapwood_.model, *sapwood_.optimizer, sapwood_.fn, with_log(options, warnings_)) {}

Tensors Twins::with_generator(at::Tensor& state, const std::function<Tensors()>& action) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_state(state);
  Tensors outputs = action();
  state = generator.get_state();
  return outputs;
}

double Twins::step(const Tensors& inputs) {
  return step_on([&](Training&) { return inputs; });
}

double Twins::step_on(const std::function<Tensors(Training&)>& inputs) {
  const Tensors expected =
      with_generator(eager_random_, [&] { return eager_step(eager_, inputs(eager_), options_, calls_); });
  const Tensors actual = with_generator(sapwood_random_, [&] { return step_.run(inputs(sapwood_)); });
  EXPECT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
    EXPECT_TRUE(bench::bit_equal(expected[i], actual[i]))
        << "output " << i << " of call " << calls_ << "\neager   " << expected[i] << "\nsapwood " << actual[i] << '\n'
        << describe(report());
    EXPECT_FALSE(actual[i].requires_grad());
  }
  EXPECT_TRUE(bench::bit_equal(eager_random_, sapwood_random_)) << "random generator after call " << calls_;
  ++calls_;
  return expected.front().item<double>();
}

void Twins::steps(int64_t count, const std::function<Tensors(int64_t)>& inputs) {
  for (int64_t i = 0; i < count; ++i) step(inputs(i));
}

void Twins::both(const std::function<void(Training&)>& action) {
  action(eager_);
  action(sapwood_);
}

void Twins::expect_equal_state() {
  EXPECT_EQ("", bench::first_difference(bench::named_state(*eager_.model, *eager_.optimizer),
                                        bench::named_state(*sapwood_.model, *sapwood_.optimizer)))
      << describe(report());
}

void Twins::expect_equal_gradients() {
  const Tensors expected = eager_.model->parameters(), actual = sapwood_.model->parameters();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(bench::bit_equal(expected[i].grad(), actual[i].grad())) << "gradient of parameter " << i;
  }
}

std::string describe(const Report& report) {
  std::ostringstream out;
  out << report.eager_steps << " eager, " << report.captured_steps << " captured, " << report.replayed_steps
      << " replayed";
  for (const SignatureReport& s : report.signatures) {
    out << "\n  " << s.signature << (s.compiled ? ": compiled" : ": eager, because " + s.fallback);
  }
  return out.str();
}

SmallNetImpl::SmallNetImpl()
    : in(register_module("in", torch::nn::Linear(6, 16))), out(register_module("out", torch::nn::Linear(16, 3))) {}

at::Tensor SmallNetImpl::forward(const at::Tensor& x) { return out(at::tanh(in(x))); }

MakeTraining small_training(const std::function<std::shared_ptr<torch::optim::Optimizer>(SmallNet&)>& make_optimizer) {
  return [make_optimizer] {
    SmallNet net;
    auto optimizer = make_optimizer(net);
    return Training{net.ptr(), optimizer,
                    [net](const Tensors& in) mutable { return Tensors{at::cross_entropy_loss(net(in[0]), in[1])}; }};
  };
}

MakeTraining small_training() {
  return small_training([](SmallNet& net) { return std::make_shared<torch::optim::SGD>(net->parameters(), 0.1); });
}

Tensors small_batch(int64_t step, int64_t items) {
  at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(100 + step));
  return {at::randn({items, 6}, generator), at::randint(0, 3, {items}, generator, at::kLong)};
}

}  // namespace sapwood::test
