// Functionalization, checked by running: a program is recorded while it works on real tensors, then the recorded graph
// is interpreted on copies of the inputs as they were. Results and everything that the program wrote must be equal bit
// for bit.

#include "capture/recorder.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <random>
#include <thread>

#include "graph/text.h"
#include "graph/verify.h"
#include "interp/interpreter.h"

namespace sapwood::capture {
namespace {

using Tensors = std::vector<at::Tensor>;
using Program = std::function<Tensors(Tensors&)>;
using graph::InputRole;
using graph::OutputRole;
using graph::PartitionerTag;

Recording record(const Program& program, Tensors& inputs, Tensors& outputs) {
  Recorder recorder({});
  for (size_t i = 0; i < inputs.size(); ++i)
    recorder.declare(inputs[i], InputRole::kUserInput, "input", static_cast<int64_t>(i));
  recorder.record(PartitionerTag::kForward, [&] { outputs = program(inputs); });
  std::vector<std::pair<graph::NodeId, graph::OutputSpec>> specs;
  for (const at::Tensor& t : outputs) specs.push_back({recorder.read(t), {OutputRole::kUserOutput, graph::kNoNode}});
  return recorder.finish(std::move(specs));
}

void expect_same(const at::Tensor& expected, const c10::IValue& got, const std::string& what) {
  ASSERT_TRUE(got.isTensor()) << what;
  EXPECT_EQ(expected.sizes(), got.toTensor().sizes()) << what;
  EXPECT_EQ(expected.scalar_type(), got.toTensor().scalar_type()) << what;
  EXPECT_TRUE(at::equal(expected, got.toTensor())) << what << "\n" << expected << "\n" << got.toTensor();
}

/// Records `program` on `inputs`, replays on copies; checks outputs, written inputs, and the random generator.
graph::Graph check(const Program& program, Tensors inputs) {
  Tensors copies;
  for (const at::Tensor& t : inputs) copies.push_back(t.detach().clone(at::MemoryFormat::Preserve));
  torch::manual_seed(11);
  Tensors outputs;
  Recording recording = record(program, inputs, outputs);
  EXPECT_EQ(recording.failure, "");
  if (!recording.failure.empty()) return {};
  const auto violations = graph::verify(recording.step.graph);
  EXPECT_TRUE(violations.empty()) << violations[0].message << "\n" << graph::print_text(recording.step.graph);
  const at::Tensor after = torch::rand({3});

  std::vector<c10::IValue> arguments;
  for (size_t i = 0; i < recording.step.inputs.size(); ++i) {
    const auto& spec = recording.step.inputs[i];
    arguments.emplace_back(spec.role == InputRole::kUserInput ? copies[static_cast<size_t>(spec.index)]
                                                              : recording.placeholder_tensors[i]);
  }
  torch::manual_seed(11);
  const auto results = interp::run(recording.step.graph, arguments);
  EXPECT_TRUE(at::equal(after, torch::rand({3}))) << "the random generator is elsewhere";
  for (size_t i = 0; i < outputs.size(); ++i)
    expect_same(outputs[i].detach(), results[i], "output " + std::to_string(i));
  for (size_t i = 0; i < recording.step.outputs.size(); ++i) {
    if (recording.step.outputs[i].role != OutputRole::kWriteBack) continue;
    for (size_t k = 0; k < recording.step.inputs.size(); ++k) {
      const auto& spec = recording.step.inputs[k];
      if (spec.node != recording.step.outputs[i].target || spec.role != InputRole::kUserInput) continue;
      expect_same(inputs[static_cast<size_t>(spec.index)].detach(), results[i],
                  "written input " + std::to_string(spec.index));
      copies[static_cast<size_t>(spec.index)].copy_(results[i].toTensor());
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(at::equal(inputs[i].detach(), copies[i])) << "input " << i << " was written unnoticed";
  if (testing::Test::HasFailure()) ADD_FAILURE() << graph::print_text(recording.step.graph);
  return recording.step.graph;
}

std::string failure_of(const Program& program, Tensors inputs) {
  Tensors outputs;
  return record(program, inputs, outputs).failure;
}

at::Tensor numbers(at::IntArrayRef sizes) {
  return torch::arange(c10::multiply_integers(sizes), torch::kFloat).reshape(sizes) / 7 - 1;
}

TEST(Recorder, PureOperators) {
  check([](Tensors& in) { return Tensors{(in[0] * 2 + in[1]).sin().sum(), in[0].matmul(in[1].t())}; },
        {numbers({3, 4}), numbers({3, 4})});
}

TEST(Recorder, InPlaceOperators) {
  check(
      [](Tensors& in) {
        auto x = in[0] + 1;
        x.mul_(2).add_(in[0], 3).relu_();
        return Tensors{x};
      },
      {numbers({3, 4})});
}

TEST(Recorder, WritesToInputsBecomeOutputs) {
  const auto graph = check(
      [](Tensors& in) {
        in[0].add_(in[1]);
        in[0].mul_(0.5);
        return Tensors{in[0] + in[1]};
      },
      {numbers({3, 4}), numbers({3, 4})});
  EXPECT_EQ(graph.output_values().size(), 2U);
}

TEST(Recorder, ViewsSeeWritesToTheirBaseAndBack) {
  check(
      [](Tensors& in) {
        auto x = in[0].clone();
        auto row = x[1], column = x.select(1, 2), flat = x.view(-1);
        row.fill_(5);
        column.add_(1);
        flat.narrow(0, 0, 3).zero_();
        x.mul_(2);
        return Tensors{row + 0, column + 0, flat + 0, x};
      },
      {numbers({3, 4})});
}

TEST(Recorder, WritesThroughViewsOfInputs) {
  check(
      [](Tensors& in) {
        in[0].slice(1, 1, 3).copy_(in[1]);
        in[0].t()[0].add_(10);
        in[0].diagonal().zero_();
        return Tensors{in[0].sum()};
      },
      {numbers({4, 4}), numbers({4, 2})});
}

TEST(Recorder, OverlappingViewsAndChains) {
  check(
      [](Tensors& in) {
        auto x = in[0].clone();
        auto a = x.narrow(0, 0, 4), b = x.narrow(0, 2, 4), c = b.view({2, 2}).t();
        a.add_(1);
        c.mul_(3);
        b.sub_(a.clone());
        return Tensors{a.clone(), b.clone(), c.clone(), x.clone()};
      },
      {numbers({6})});
}

TEST(Recorder, SplitsChunksAndUnbind) {
  check(
      [](Tensors& in) {
        auto x = in[0].clone();
        auto parts = x.split(2, 1);
        parts[0].mul_(2);
        parts[1].add_(parts[0]);
        auto rows = x.unbind(0);
        rows[0].zero_();
        return Tensors{torch::cat({parts[1], parts[0]}, 1), rows[1] + rows[0], x};
      },
      {numbers({3, 4})});
}

TEST(Recorder, OutVariants) {
  check(
      [](Tensors& in) {
        auto out = torch::empty({3, 3}), fresh = torch::empty({0});
        at::mm_out(out, in[0], in[0].t());
        at::add_out(fresh, out, out);
        at::sum_out(in[1], in[0], {1});
        return Tensors{out, fresh};
      },
      {numbers({3, 4}), numbers({3})});
}

TEST(Recorder, DataDetachAndInPlaceDetach) {
  check(
      [](Tensors& in) {
        auto x = in[0] * 1;
        x.data().add_(1);
        auto y = x.detach();
        y.mul_(2);
        x.detach_();
        return Tensors{x + y};
      },
      {numbers({3, 4})});
}

TEST(Recorder, CopyConvertsAndBroadcasts) {
  check(
      [](Tensors& in) {
        in[0].copy_(in[1]);
        in[2].copy_(in[0]);
        in[0].t().copy_(in[2].to(torch::kFloat));
        in[0].fill_(in[1][0]);
        return Tensors{in[2] + 1};
      },
      {numbers({4, 4}), numbers({4}), torch::zeros({4, 4}, torch::kLong)});
}

TEST(Recorder, InPlaceKeepsDtypeAndStrides) {
  check(
      [](Tensors& in) {
        in[0].add_(in[1], 2);
        in[2].t().add_(in[1].to(torch::kFloat));
        return Tensors{in[0] * 1, in[2] * 1};
      },
      {torch::ones({3, 3}, torch::kInt), torch::ones({3, 3}, torch::kInt), numbers({3, 3})});
}

TEST(Recorder, RandomOperatorsDrawInOrder) {
  check(
      [](Tensors& in) {
        auto noise = torch::empty_like(in[0]).bernoulli_(0.5).div_(0.5);
        auto more = torch::randn({3, 4}) + torch::rand_like(in[0]);
        in[0].uniform_(0, 2);
        return Tensors{in[0] * noise + more, torch::dropout(in[0], 0.3, true), torch::empty({2, 2}).normal_(1, 2)};
      },
      {numbers({3, 4})});
}

TEST(Recorder, BatchNormUpdatesRunningStatistics) {
  const auto graph = check(
      [](Tensors& in) {
        return Tensors{at::batch_norm(in[0], in[1], in[2], in[3], in[4], /*training=*/true, 0.1, 1e-5, true),
                       at::batch_norm(in[0], in[1], in[2], in[3], in[4], /*training=*/false, 0.1, 1e-5, true)};
      },
      {torch::randn({8, 3, 2, 2}), torch::ones(3), torch::zeros(3), torch::zeros(3), torch::ones(3)});
  EXPECT_EQ(graph.output_values().size(), 4U);
}

TEST(Recorder, ForeachAndMultipleOutputs) {
  check(
      [](Tensors& in) {
        at::_foreach_mul_(Tensors{in[0], in[1]}, 2.0);
        auto [values, indices] = in[0].max(1);
        return Tensors{values, indices, std::get<0>(at::sort(in[1], 1, true))};
      },
      {numbers({3, 4}), numbers({2, 2})});
}

TEST(Recorder, TransposeInPlaceAndAsStrided) {
  check(
      [](Tensors& in) {
        auto x = in[0].clone();
        x.t_();
        x[0].add_(1);
        auto windows = x.as_strided({2, 2}, {1, 2}, 1);
        windows.mul_(2);
        x.squeeze_().unsqueeze_(0);
        return Tensors{x * 1, windows.clone()};
      },
      {numbers({3, 4})});
}

TEST(Recorder, ReusedAddressesAreNotConfused) {
  check(
      [](Tensors& in) {
        at::Tensor sum = torch::zeros({64});
        for (int i = 0; i < 20; ++i) {  // temporaries of one size: the allocator hands the same address out again
          auto t = in[0] + i;
          t.mul_(2);
          sum = sum + t.sin();
        }
        return Tensors{sum};
      },
      {numbers({64})});
}

TEST(Recorder, BackwardAndDoubleBackward) {
  check(
      [](Tensors& in) {
        auto x = in[0].detach().requires_grad_();
        auto y = (x * x * x).sum();
        auto g = torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
        auto gg = torch::autograd::grad({g.sum()}, {x})[0];
        return Tensors{g.detach(), gg};
      },
      {numbers({5})});
}

TEST(Recorder, GradientAccumulationStealsAndAdds) {
  check(
      [](Tensors& in) {
        auto w = in[0].detach().requires_grad_();
        (w * 2).sum().backward();
        (w * w).sum().backward();
        return Tensors{w.grad() * 1};
      },
      {numbers({5})});
}

TEST(Recorder, HostReadsEndTheRecordingWithAReason) {
  const auto reason =
      failure_of([](Tensors& in) { return Tensors{in[0] * in[0].sum().item<float>()}; }, {numbers({3})});
  EXPECT_NE(reason.find("aten._local_scalar_dense"), std::string::npos) << reason;
  EXPECT_NE(reason.find("host"), std::string::npos) << reason;
}

TEST(Recorder, DataDependentSizesEndTheRecording) {
  EXPECT_NE(failure_of([](Tensors& in) { return Tensors{in[0].nonzero()}; }, {numbers({3})}).find("aten.nonzero"),
            std::string::npos);
  EXPECT_NE(
      failure_of([](Tensors& in) { return Tensors{in[0].index({in[0] > 0})}; }, {numbers({3})}).find("aten.index"),
      std::string::npos);
}

TEST(Recorder, HostWritesEndTheRecording) {
  const std::vector<float> host = {1, 2, 3};
  const auto reason = failure_of([&](Tensors& in) { return Tensors{in[0] + torch::tensor(host)}; }, {numbers({3})});
  EXPECT_NE(reason.find("host filled"), std::string::npos) << reason;
}

TEST(Recorder, NumbersInBracesAreConstants) {
  check([](Tensors& in) { return Tensors{in[0] + torch::tensor({1.F, 2.F, 3.F})}; }, {numbers({3})});
  check([](Tensors& in) { return Tensors{in[0].index_select(0, torch::tensor({2, 0}))}; }, {numbers({3})});
}

// Memory that is filled in parts may be read where it is filled, and nowhere else.
TEST(Recorder, MemoryFilledInParts) {
  const auto fill = [](const at::Tensor& x, int64_t rows) {
    at::Tensor y = at::empty({3, 4});
    for (int64_t i = 0; i < rows; ++i) y[i].copy_(x.mul(i));
    return y;
  };
  check([&](Tensors& in) { return Tensors{fill(in[0], 3).t() * 2}; }, {numbers({4})});
  check([&](Tensors& in) { return Tensors{fill(in[0], 2).slice(0, 0, 2) * 2}; }, {numbers({4})});
  const auto reason = failure_of([&](Tensors& in) { return Tensors{fill(in[0], 2) * 2}; }, {numbers({4})});
  EXPECT_NE(reason.find("host filled"), std::string::npos) << reason;
}

TEST(Recorder, WritesToOverlappingMemoryEndTheRecording) {
  const auto reason =
      failure_of([](Tensors& in) { return Tensors{in[0].as_strided({2, 2}, {1, 1}, 0).mul_(2)}; }, {numbers({3})});
  EXPECT_NE(reason.find("overlap"), std::string::npos) << reason;
  const auto copied = failure_of([](Tensors& in) { return Tensors{in[0][1].copy_(in[0].t()[0])}; }, {numbers({3, 3})});
  EXPECT_NE(copied.find("overlap"), std::string::npos) << copied;
}

TEST(Recorder, ExceptionsPassThrough) {
  Recorder recorder({});
  EXPECT_THROW(recorder.record(PartitionerTag::kForward, [] { throw std::runtime_error("mine"); }), std::runtime_error);
  EXPECT_THROW(recorder.record(PartitionerTag::kForward, [] { torch::ones({2}).view({3}); }), c10::Error);
  EXPECT_FALSE(recorder.failed());
}

TEST(Recorder, OtherThreadsAreNotRecorded) {
  const auto graph = check(
      [](Tensors& in) {
        std::thread other([] {
          for (int i = 0; i < 50; ++i) torch::ones({8}).exp_();
        });
        auto y = in[0] + 1;
        other.join();
        return Tensors{y};
      },
      {numbers({3})});
  EXPECT_EQ(graph.ops.size(), 1U);
}

TEST(Recorder, SourceLinesAreThoseOfTheUser) {
  Recorder recorder({});
  at::Tensor x = numbers({3});
  recorder.declare(x, InputRole::kUserInput, "x", 0);
  recorder.record(PartitionerTag::kForward, [&] { x = x.sin(); });
  const Recording recording = recorder.finish({{recorder.read(x), {}}});
  const graph::NodeId sin = recording.step.graph.find("sin");
  ASSERT_NE(sin, graph::kNoNode);
  EXPECT_NE(recording.step.graph[sin].meta->stack_trace.find("SourceLines"), std::string::npos)
      << recording.step.graph[sin].meta->stack_trace;
}

/// Random straight-line programs of views, writes and arithmetic on a pool of tensors.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : rng_(seed) {}
  Tensors operator()(Tensors& in) {
    pool_ = {in[0], in[1]};
    for (int i = 0; i < 25; ++i) {
      try {
        step();
      } catch (const c10::Error&) {  // partly overlapping operands: an error in eager as well
      }
    }
    Tensors out;
    for (size_t i = pool_.size() - 4; i < pool_.size(); ++i) out.push_back(pool_[i] * 1);
    return out;
  }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng_); }
  at::Tensor any() { return pool_[pick(pool_.size())]; }
  void step() {
    at::Tensor a = any(), b = any();
    switch (pick(9)) {
      case 0:
        pool_.push_back(a.t());
        break;
      case 1:
        pool_.push_back(a.slice(0, 0, 2).repeat({2, 1}));
        break;
      case 2:
        pool_.push_back(a + b);
        break;
      case 3:
        a.add_(b, 0.5);
        break;
      case 4:
        a.mul_(0.75);
        break;
      case 5:
        a[static_cast<int64_t>(pick(4))].copy_(b[0].clone());
        break;
      case 6:
        a.narrow(1, 1, 2).sub_(1);
        break;
      case 7:
        pool_.push_back(a.reshape({2, 8}).view({4, 4}));
        break;
      default:
        a.diagonal().fill_(0.25);
        break;
    }
  }

  std::mt19937_64 rng_;
  Tensors pool_;
};

TEST(Recorder, RandomPrograms) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check([&](Tensors& in) { return RandomProgram(seed)(in); }, {numbers({4, 4}), numbers({4, 4}) * -1});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sapwood::capture
