// Compiled functions in an ordinary loop: outputs, gradients, buffers and random numbers as eager has them.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "sapwood/sapwood.h"

namespace {

using Tensors = std::vector<at::Tensor>;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear a{nullptr}, b{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  torch::nn::Dropout drop{nullptr};
  NetImpl() {
    a = register_module("a", torch::nn::Linear(6, 16));
    b = register_module("b", torch::nn::Linear(16, 3));
    norm = register_module("norm", torch::nn::BatchNorm1d(16));
    drop = register_module("drop", torch::nn::Dropout(0.25));
  }
  at::Tensor forward(const at::Tensor& x) { return b(drop(torch::gelu(norm(a(x))))); }
};
TORCH_MODULE(Net);

Net make_net() {
  torch::manual_seed(5);
  return Net();
}

class OneThread : public testing::Test {
 protected:
  void SetUp() override {
    threads_ = torch::get_num_threads();
    torch::set_num_threads(1);
  }
  void TearDown() override { torch::set_num_threads(threads_); }
  int threads_ = 1;
};
using Compile = OneThread;

/// Trains for a few steps with `forward`; returns losses, then parameters, buffers and the input's gradient of the last
/// step.
Tensors train(Net& net, const std::function<at::Tensor(const at::Tensor&)>& forward) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  Tensors results;
  torch::manual_seed(9);
  at::Tensor x;
  for (int i = 0; i < 6; ++i) {
    x = torch::randn({8, 6}).requires_grad_();
    optimizer.zero_grad();
    const at::Tensor loss = forward(x * 2).square().mean();
    loss.backward();
    optimizer.step();
    results.push_back(loss.detach());
  }
  for (const at::Tensor& p : net->parameters()) results.push_back(p.detach());
  for (const at::Tensor& b : net->buffers()) results.push_back(b);
  results.push_back(x.grad());
  return results;
}

void expect_equal(const Tensors& expected, const Tensors& got) {
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::equal(expected[i], got[i])) << "result " << i;
}

TEST_F(Compile, TrainsAsEagerDoes) {
  for (const auto partitioner :
       {sapwood::Partitioner::kAuto, sapwood::Partitioner::kDefault, sapwood::Partitioner::kMinCut}) {
    Net eager = make_net(), compiled = make_net();
    const Tensors expected = train(eager, [&](const at::Tensor& x) { return eager->forward(x); });
    sapwood::CompileOptions options;
    options.partitioner = partitioner;
    options.module = compiled.get();
    auto fn = sapwood::compile([&](const at::Tensor& x) { return compiled->forward(x); }, options);
    expect_equal(expected, train(compiled, fn));
    const sapwood::Report report = fn.report();
    EXPECT_GE(report.replayed_steps, 4) << report;
    EXPECT_TRUE(report.signatures.at(0).compiled) << report;
    EXPECT_EQ(report.signatures.at(0).largest_difference, 0) << report;
  }
}

TEST_F(Compile, FollowsTrainingFlags) {
  Net net = make_net();
  sapwood::CompileOptions options;
  options.module = net.get();
  auto fn = sapwood::compile([&](const at::Tensor& x) { return net->forward(x); }, options);
  const at::Tensor x = torch::randn({8, 6});
  for (int i = 0; i < 3; ++i) fn(x).sum().backward();
  net->eval();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at::equal(fn(x), net->forward(x)));
}

TEST_F(Compile, SeveralOutputsSomeWithoutGradient) {
  const at::Tensor w = torch::randn({4, 4}).requires_grad_();
  auto fn = sapwood::compile(
      [&](const at::Tensor& x) -> Tensors { return {x.matmul(w).tanh(), x.argmax(1), (x * 2).sum()}; });
  for (int i = 0; i < 4; ++i) {
    const at::Tensor x = torch::randn({3, 4});
    w.mutable_grad().reset();
    const Tensors out = fn.run({x});
    EXPECT_FALSE(out[1].requires_grad());
    EXPECT_FALSE(out[2].requires_grad());
    out[0].square().sum().backward();
    const at::Tensor got = w.grad().clone();
    w.mutable_grad().reset();
    x.matmul(w).tanh().square().sum().backward();
    EXPECT_TRUE(at::equal(w.grad(), got));
    EXPECT_TRUE(at::equal(out[1], x.argmax(1)));
  }
}

// The first backward is dense, so the compiled one is made for that; later gradients come otherwise.
TEST_F(Compile, GradientsOfOtherLayoutsThanTheFirst) {
  const auto function = [](const Tensors& in) {
    const at::Tensor h = at::tanh(in[0].t().matmul(in[1]));
    return Tensors{h.t(), h.square().sum()};
  };
  auto fn = sapwood::compile(sapwood::CompiledFunction::Fn(function));
  const std::vector<std::function<at::Tensor(const Tensors&)>> losses = {
      [](const Tensors& out) { return out[0].square().mean() + out[1]; },
      [](const Tensors& out) { return out[0].square().mean() + out[1]; },
      [](const Tensors& out) { return out[0].square().mean() + out[1]; },
      [](const Tensors& out) { return out[0].sum() + out[1]; },
      [](const Tensors& out) { return out[0].t().contiguous().mul(2).select(0, 1).sum(); },
      [](const Tensors& out) { return out[1]; },
      [](const Tensors& out) { return at::log_softmax(out[0], 0).mean(); },
  };
  for (const auto& loss : losses) {
    const Tensors inputs = {torch::randn({5, 7}), torch::randn({5, 4})};
    const auto gradients = [&](const sapwood::CompiledFunction::Fn& f) {
      Tensors leaves;
      for (const at::Tensor& in : inputs) leaves.push_back(in.clone().requires_grad_());
      loss(f(leaves)).backward();
      return Tensors{leaves[0].grad(), leaves[1].grad()};
    };
    const Tensors expected = gradients(function), got = gradients([&](const Tensors& in) { return fn.run(in); });
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(at::allclose(expected[i], got[i], 1e-5, 1e-6)) << "loss " << &loss - losses.data();
  }
  EXPECT_EQ(fn.report().captured_steps, 2) << "once more for the layout of the first gradient\n" << fn.report();
  EXPECT_EQ(fn.report().replayed_steps, 5) << fn.report();
}

// The backward needs values from before the write: of a buffer, of a view of it, of an input.
TEST_F(Compile, OldValuesOfWrittenTensors) {
  const at::Tensor w = torch::randn({8, 8}).requires_grad_();
  at::Tensor mean = torch::randn({8, 8}), seen = mean.t();
  const auto function = [&](const Tensors& in) -> Tensors {
    const at::Tensor centered = (in[0] - mean * 0.9) * (seen + 1).sigmoid();
    const at::Tensor y = at::gelu(centered * w).mul((in[1] * 2).tanh());
    const torch::NoGradGuard no_grad;
    mean.mul_(0.9).add_(in[0].detach(), 0.1);
    in[1].neg_();
    return {y};
  };
  const auto fit = [&](const sapwood::CompiledFunction::Fn& f) {
    torch::manual_seed(3);
    mean.normal_();
    Tensors left;
    for (int i = 0; i < 5; ++i) {
      const Tensors first = {torch::randn({8, 8}), torch::randn({8, 8})}, second = {torch::randn({8, 8}), first[0] + 1};
      w.mutable_grad().reset();
      const at::Tensor a = f(first)[0], b = f(second)[0];
      (a.square().mean() * 2).backward();
      b.square().mean().backward();
      left.insert(left.end(), {a.detach(), b.detach(), w.grad(), mean.clone(), first[1], second[1]});
    }
    return left;
  };
  const Tensors expected = fit(function);
  for (const auto partitioner :
       {sapwood::Partitioner::kAuto, sapwood::Partitioner::kDefault, sapwood::Partitioner::kMinCut}) {
    sapwood::CompileOptions options;
    options.partitioner = partitioner;
    options.log = [](std::string_view line) { ADD_FAILURE() << line; };
    const auto fn = sapwood::compile(sapwood::CompiledFunction::Fn(function), options);
    const Tensors got = fit([&](const Tensors& in) { return fn.run(in); });
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(at::equal(expected[i], got[i])) << "tensor " << i;
    EXPECT_GT(fn.report().replayed_steps, 5) << fn.report();
  }
}

TEST_F(Compile, HostReadsRunEagerly) {
  std::string said;
  sapwood::CompileOptions options;
  options.log = [&](std::string_view line) { said += line; };
  const at::Tensor w = torch::ones({2}).requires_grad_();
  auto fn = sapwood::compile([&](const at::Tensor& x) { return w * x * x.sum().item<float>(); }, options);
  for (int i = 1; i < 4; ++i) {
    const at::Tensor x = torch::full({2}, static_cast<float>(i));
    fn(x).sum().backward();
    EXPECT_TRUE(at::equal(w.grad(), x * x.sum()));
    w.mutable_grad().reset();
  }
  EXPECT_NE(said.find("_local_scalar_dense"), std::string::npos) << said;
}

TEST_F(Compile, HiddenStateIsNoticed) {
  std::string said;
  sapwood::CompileOptions options;
  options.log = [&](std::string_view line) { said += line; };
  const at::Tensor w = torch::ones({2}).requires_grad_();
  double hidden = 0;
  auto fn = sapwood::compile([&](const at::Tensor& x) { return w * x * (hidden += 1); }, options);
  for (int i = 1; i < 5; ++i)
    EXPECT_TRUE(at::equal(fn(torch::ones({2})).detach(), torch::full({2}, static_cast<float>(i))));
  EXPECT_NE(said.find("differs from eager"), std::string::npos) << said;
}

// With several threads results may differ by rounding, by nothing else: an infinite element excuses no difference.
TEST_F(Compile, HiddenStateBesideInfinitiesIsNoticed) {
  torch::set_num_threads(2);
  std::string said;
  sapwood::CompileOptions options;
  options.log = [&](std::string_view line) { said += line; };
  const at::Tensor w = torch::ones({2}).requires_grad_(), x = torch::tensor({1.0F, INFINITY});
  double hidden = 0;
  auto fn = sapwood::compile([&](const at::Tensor& in) -> Tensors { return {w * 2, in * (hidden += 1)}; }, options);
  for (int i = 1; i < 5; ++i) EXPECT_EQ(fn.run({x})[1][0].item<double>(), i);
  EXPECT_NE(said.find("differs from eager"), std::string::npos) << said;
}

TEST_F(Compile, BackwardTwiceIsAnError) {
  const at::Tensor w = torch::ones({2}).requires_grad_();
  auto fn = sapwood::compile([&](const at::Tensor& x) { return (w * x).square(); });
  for (int i = 0; i < 3; ++i) fn(torch::ones({2})).sum().backward();
  const at::Tensor y = fn(torch::ones({2})).sum();
  y.backward();
  EXPECT_THROW(y.backward(), c10::Error);
}

}  // namespace
