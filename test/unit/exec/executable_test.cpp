#include "runtime/exec/executable.h"

#include <random>

#include "../interp/corpus_models.h"
#include "base/error.h"
#include "exec_testing.h"

namespace sapwood::exec {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using graph::PartitionerTag;

constexpr auto kOptimizer = PartitionerTag::kOptimizer;

at::Tensor value(const std::vector<int64_t>& sizes) { return at::randn(sizes); }

TEST(Executable, ViewsCostNothingAndFollowTheirBase) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4, 6}));
  const NodeId t = b.call("aten.t.default", {arg(x)}, tensor_meta({6, 4}, {1, 6}));
  const NodeId row = b.call("aten.select.int", {arg(t), 0, 2}, tensor_meta({4}, {6}));
  const NodeId exp = b.call("aten.exp.default", {arg(t)}, tensor_meta({6, 4}, {1, 6}));
  const NodeId flat = b.call("aten.select.int", {arg(exp), 1, 3}, tensor_meta({6}, {1}));
  b.returns(b.call("aten.sum.default", {arg(row)}, tensor_meta({})));
  b.returns(b.call("aten.cos.default", {arg(flat)}, tensor_meta({6})));
  const JointGraph& step = b.finish();
  check_step(step, {value({4, 6})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 3);
}

TEST(Executable, OutputsAreTheCallersOwnMemory) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({64}));
  b.returns(b.call("aten.exp.default", {arg(x)}, tensor_meta({64})));
  const auto executable = Executable::build(b.finish(), {});
  const at::Tensor in = value({64});
  const at::Tensor first = executable->run(std::vector<c10::IValue>{in}).front();
  const at::Tensor kept = first.clone();
  const at::Tensor second = executable->run(std::vector<c10::IValue>{value({64})}).front();
  EXPECT_TRUE(at::equal(first, kept));
  EXPECT_NE(first.data_ptr(), second.data_ptr());
  EXPECT_EQ(executable->memory().arena_bytes, 0);
}

TEST(Executable, AnOutputThatIsAnInputOrItsViewAliasesIt) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4, 6}));
  b.returns(b.call("aten.t.default", {arg(x)}, tensor_meta({6, 4}, {1, 6})));
  b.returns(x);
  const JointGraph& step = b.finish();
  check_step(step, {value({4, 6})});
  const at::Tensor in = value({5, 6}).slice(0, 1);
  const std::vector<at::Tensor> out = Executable::build(step, {})->run(std::vector<c10::IValue>{in});
  EXPECT_EQ(out[0].data_ptr(), in.data_ptr());
  EXPECT_TRUE(at::equal(out[0], in.t()));
}

TEST(Executable, MultipleResultsAndUnusedOnes) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({8, 5}));
  graph::TupleValue tuple{
      {graph::Value(tensor_meta({8, 1})), graph::Value(tensor_meta({8, 1}, {}, graph::DType::kInt64))}};
  const NodeId top = b.g().call("aten.max.dim", {arg(x), 1, true}, graph::Value(tuple));
  const NodeId values = b.g().call("operator.getitem", {arg(top), 0}, graph::Value(tensor_meta({8, 1})));
  b.returns(b.call("aten.exp.default", {arg(values)}, tensor_meta({8, 1})));
  check_step(b.finish(), {value({8, 5})});
}

TEST(Executable, MaskedGradientsAreNone) {
  StepBuilder b;
  const NodeId grad = b.input("grad", tensor_meta({2, 3, 6, 6}));
  const NodeId x = b.input("x", tensor_meta({2, 4, 8, 8}));
  const NodeId w = b.input("w", tensor_meta({3, 4, 3, 3}));
  graph::TupleValue tuple{{graph::Value(), graph::Value(tensor_meta({3, 4, 3, 3})), graph::Value(tensor_meta({3}))}};
  const auto ints = [](std::vector<int64_t> v) { return Argument::ints(v); };
  const NodeId back = b.g().call("aten.convolution_backward.default",
                                 {arg(grad), arg(x), arg(w), ints({3}), ints({1, 1}), ints({0, 0}), ints({1, 1}), false,
                                  ints({0, 0}), 1, Argument::list({false, true, true})},
                                 graph::Value(tuple));
  const NodeId weight = b.g().call("operator.getitem", {arg(back), 1}, graph::Value(tensor_meta({3, 4, 3, 3})));
  b.returns(b.call("aten.mul.Tensor", {arg(weight), 0.1}, tensor_meta({3, 4, 3, 3})));
  b.returns(b.g().call("operator.getitem", {arg(back), 2}, graph::Value(tensor_meta({3}))));
  b.results.push_back(graph::kNoNode);
  b.step.outputs.push_back({});
  check_step(b.finish(), {value({2, 3, 6, 6}), value({2, 4, 8, 8}), value({3, 4, 3, 3})});
}

TEST(Executable, NumbersChangeFromRunToRun) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({33}));
  const NodeId rate = b.number("rate");
  const NodeId add = b.call("aten.add.Tensor", {arg(x), arg(x)}, tensor_meta({33}));
  b.g().set_kwargs(add, {{"alpha", arg(rate)}});
  const NodeId exp = b.call("aten.exp.default", {arg(add)}, tensor_meta({33}));
  b.returns(b.call("aten.mul.Tensor", {arg(exp), arg(rate)}, tensor_meta({33})));
  const JointGraph& step = b.finish();
  check_step(step, {value({33}), 0.1});
  check_step(step, {value({33}), -3.7});
  const auto executable = Executable::build(step, {});
  const at::Tensor in = value({33});
  for (const double rate_now : {0.5, 0.25}) {
    const std::vector<c10::IValue> inputs{in, rate_now};
    EXPECT_EQ(difference(interp::run(step.graph, inputs)[0].toTensor(), executable->run(inputs)[0]), "");
  }
}

// Write-backs.

TEST(WriteBack, HappensInPlaceWhereNothingReadsTheOldValueLater) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({40}), graph::InputRole::kParameter);
  const NodeId g = b.input("g", tensor_meta({40}));
  const NodeId update = b.call("aten.add.Tensor", {arg(p), arg(g)}, tensor_meta({40}), kOptimizer);
  b.writes(p, update);
  const JointGraph& step = b.finish();
  check_step(step, {value({40}), value({40})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 1);
  EXPECT_EQ(Executable::build(step, {false, true})->launches(), 1);
}

TEST(WriteBack, IsSeenByAutogradsVersionCheck) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({4}), graph::InputRole::kParameter);
  const NodeId x = b.input("x", tensor_meta({4}));
  b.writes(p, b.call("aten.neg.default", {arg(x)}, tensor_meta({4}), kOptimizer));
  const at::Tensor parameter = value({4});
  const at::Tensor other = value({4});
  const auto before = parameter._version();
  const auto other_before = other._version();
  Executable::build(b.finish(), {})->run(std::vector<c10::IValue>{parameter, other});
  EXPECT_EQ(parameter._version(), before + 1);
  EXPECT_EQ(other._version(), other_before);
}

TEST(WriteBack, LateReadersOfTheOldValueComeFirst) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({6, 6}), graph::InputRole::kParameter);
  const NodeId g = b.input("g", tensor_meta({6, 6}));
  const NodeId update = b.call("aten.mul.Tensor", {arg(p), arg(g)}, tensor_meta({6, 6}), kOptimizer);
  const NodeId t = b.call("aten.t.default", {arg(p)}, tensor_meta({6, 6}, {1, 6}));
  b.returns(b.call("aten.mm.default", {arg(g), arg(t)}, tensor_meta({6, 6}), PartitionerTag::kBackward));
  b.writes(p, update);
  const JointGraph& step = b.finish();
  check_step(step, {value({6, 6}), value({6, 6})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 2);
}

TEST(WriteBack, IsCopiedWhereTheNewValueIsNeededBeforeTheOldOneIsDone) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({6}), graph::InputRole::kBuffer);
  const NodeId fresh = b.call("aten.exp.default", {arg(p)}, tensor_meta({6}));
  b.returns(b.call("aten.mul.Tensor", {arg(fresh), arg(p)}, tensor_meta({6})));
  b.writes(p, fresh);
  check_step(b.finish(), {value({6})});
}

TEST(WriteBack, PlaceholdersMaySwap) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({6}), graph::InputRole::kBuffer);
  const NodeId q = b.input("q", tensor_meta({6}), graph::InputRole::kBuffer);
  b.writes(p, q);
  b.writes(q, p);
  check_step(b.finish(), {value({6}), value({6})});
}

TEST(WriteBack, AnOutputKeepsTheOldValue) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({2, 3}), graph::InputRole::kBuffer);
  b.returns(b.call("aten.t.default", {arg(p)}, tensor_meta({3, 2}, {1, 3})));
  b.writes(p, b.call("aten.neg.default", {arg(p)}, tensor_meta({2, 3})));
  check_step(b.finish(), {value({2, 3})});
}

TEST(WriteBack, ANewValueMayBeReturnedToo) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({5}), graph::InputRole::kBuffer);
  const NodeId fresh = b.call("aten.neg.default", {arg(p)}, tensor_meta({5}));
  b.writes(p, fresh);
  b.returns(fresh);
  const JointGraph& step = b.finish();
  check_step(step, {value({5})});
  const at::Tensor in = value({5});
  const at::Tensor out = Executable::build(step, {})->run(std::vector<c10::IValue>{in})[1];
  EXPECT_NE(out.data_ptr(), in.data_ptr());
}

TEST(WriteBack, AValueOfAnotherLayoutIsCopied) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({4, 3}), graph::InputRole::kParameter);
  const NodeId x = b.input("x", tensor_meta({3, 4}));
  const NodeId exp = b.call("aten.exp.default", {arg(x)}, tensor_meta({3, 4}));
  b.writes(p, b.call("aten.t.default", {arg(exp)}, tensor_meta({4, 3}, {1, 4})));
  check_step(b.finish(), {value({4, 3}), value({3, 4})});
}

TEST(WriteBack, AProducerThatReadsThePlaceholderOutOfOrderIsNotInPlace) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({4, 4}), graph::InputRole::kParameter);
  const NodeId t = b.call("aten.t.default", {arg(p)}, tensor_meta({4, 4}, {1, 4}));
  b.writes(p, b.call("aten.sub.Tensor", {arg(p), arg(t)}, tensor_meta({4, 4})));
  check_step(b.finish(), {value({4, 4})});
}

TEST(WriteBack, AFusedUpdateMayReadTheOldValueAfterItMadeTheNewOne) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({700}), graph::InputRole::kParameter);
  const NodeId m = b.input("m", tensor_meta({700}), graph::InputRole::kState);
  const NodeId fresh = b.call("aten.mul.Tensor", {arg(m), 0.9}, tensor_meta({700}), kOptimizer);
  const NodeId sum = b.call("aten.add.Tensor", {arg(p), arg(fresh)}, tensor_meta({700}), kOptimizer);
  const NodeId both = b.call("aten.mul.Tensor", {arg(sum), arg(m)}, tensor_meta({700}), kOptimizer);
  b.writes(m, fresh);
  b.writes(p, both);
  const JointGraph& step = b.finish();
  check_step(step, {value({700}), value({700})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 1);
}

TEST(WriteBack, MutationsInsideTheGraphKeepTheirPlace) {
  StepBuilder b;
  const NodeId p = b.input("p", tensor_meta({6}), graph::InputRole::kBuffer);
  const NodeId x = b.input("x", tensor_meta({6}));
  const NodeId before = b.call("aten.exp.default", {arg(p)}, tensor_meta({6}));
  const NodeId copy = b.call("aten.copy_.default", {arg(p), arg(x)}, tensor_meta({6}));
  const NodeId after = b.call("aten.cos.default", {arg(p)}, tensor_meta({6}));
  b.returns(before);
  b.returns(after);
  b.returns(b.call("aten.sin.default", {arg(copy)}, tensor_meta({6})));
  check_step(b.finish(), {value({6}), value({6})});
}

/// AdamW as it is emitted for one parameter.
void add_adamw(StepBuilder& b, const std::vector<int64_t>& sizes, NodeId grad, std::array<NodeId, 3> rates) {
  const std::string tag = std::to_string(b.step.inputs.size());
  const auto meta = tensor_meta(sizes);
  const NodeId p = b.input("p" + tag, meta, graph::InputRole::kParameter);
  const NodeId m = b.input("m" + tag, meta, graph::InputRole::kState);
  const NodeId v = b.input("v" + tag, meta, graph::InputRole::kState);
  const auto op = [&](const std::string& target, graph::ArgumentList args) {
    return b.call(target, std::move(args), meta, kOptimizer);
  };
  const NodeId decayed = op("aten.mul.Tensor", {arg(p), arg(rates[0])});
  const NodeId m1 = op("aten.mul.Tensor", {arg(m), 0.9});
  const NodeId m2 = op("aten.add.Tensor", {arg(m1), arg(grad)});
  b.g().set_kwargs(m2, {{"alpha", 1 - 0.9}});
  const NodeId v1 = op("aten.mul.Tensor", {arg(v), 0.999});
  const NodeId v2 = op("aten.addcmul.default", {arg(v1), arg(grad), arg(grad)});
  b.g().set_kwargs(v2, {{"value", 1 - 0.999}});
  const NodeId root = op("aten.sqrt.default", {arg(v2)});
  const NodeId scaled = op("aten.div.Tensor", {arg(root), arg(rates[1])});
  const NodeId denominator = op("aten.add.Tensor", {arg(scaled), 1e-8});
  const NodeId updated = op("aten.addcdiv.default", {arg(decayed), arg(m2), arg(denominator)});
  b.g().set_kwargs(updated, {{"value", arg(rates[2])}});
  b.writes(p, updated);
  b.writes(m, m2);
  b.writes(v, v2);
}

TEST(Update, AdamWOfManyParametersIsOneLaunchWithoutCopies) {
  StepBuilder b;
  const std::vector<std::vector<int64_t>> shapes{{17, 5}, {3}, {64, 128}, {1}, {1000}};
  std::vector<c10::IValue> inputs;
  std::array<NodeId, 3> rates{};
  for (NodeId& rate : rates) rate = b.number("rate" + std::to_string(inputs.size())), inputs.emplace_back(0.0);
  inputs[0] = 1 - 1e-3 * 0.01;
  inputs[1] = 0.0316;
  inputs[2] = -1e-3 / 0.1;
  std::vector<NodeId> grads;
  for (const auto& shape : shapes) {
    grads.push_back(b.input("g" + std::to_string(grads.size()), tensor_meta(shape)));
    inputs.emplace_back(value(shape));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    add_adamw(b, shapes[i], grads[i], rates);
    inputs.emplace_back(value(shapes[i]));
    inputs.emplace_back(value(shapes[i]));
    inputs.emplace_back(value(shapes[i]).abs());
  }
  const JointGraph& step = b.finish();
  check_step(step, inputs);
  const auto executable = Executable::build(step, {});
  EXPECT_EQ(executable->launches(), 1);
  EXPECT_EQ(executable->fused_nodes(), 45);
  EXPECT_EQ(executable->memory().arena_bytes, 0);
}

// Observation and errors.

TEST(Observed, ShowsTheInterpretersValues) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({40}));
  const NodeId a = b.call("aten.mul.Tensor", {arg(x), 2.0}, tensor_meta({40}));
  const NodeId c = b.call("aten.add.Tensor", {arg(a), arg(x)}, tensor_meta({40}));
  const NodeId v = b.call("aten.view.default", {arg(c), Argument::ints({5, 8})}, tensor_meta({5, 8}));
  b.returns(b.call("aten.exp.default", {arg(v)}, tensor_meta({5, 8})));
  b.writes(x, c);
  const JointGraph& step = b.finish();
  const std::vector<c10::IValue> given{value({40})};
  std::map<std::string, at::Tensor> expected;
  std::vector<std::string> expected_order;
  interp::run(step.graph, copies(given), [&](const graph::Node& node, const c10::IValue& seen) {
    expected[node.name] = seen.toTensor().clone();
    expected_order.push_back(node.name);
  });
  std::vector<std::string> order;
  const std::vector<c10::IValue> inputs = copies(given);
  const auto executable = Executable::build(step, {});
  const std::vector<at::Tensor> out =
      executable->run_observed(inputs, [&](const graph::Node& node, const c10::IValue& seen) {
        order.push_back(node.name);
        EXPECT_EQ(difference(expected.at(node.name), seen.toTensor()), "") << node.name;
      });
  EXPECT_EQ(order, expected_order);
  EXPECT_EQ(difference(expected.at(step.graph[c].name), inputs[0].toTensor()), "");
  EXPECT_EQ(difference(expect(step, given, 1).outputs[0], out[0]), "");
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ExecutableErrors, NameTheNode) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4}));
  b.returns(b.call("mylib.frobnicate.default", {arg(x)}, tensor_meta({4})));
  const JointGraph& step = b.finish();
  EXPECT_NE(message([&] { Executable::build(step, {}); }).find("'frobnicate'"), std::string::npos);
}

TEST(ExecutableErrors, AFailingKernelNamesTheNodeAndTheNextRunWorks) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4}));
  const NodeId i = b.input("i", tensor_meta({1}, {}, graph::DType::kInt64));
  b.returns(b.call("aten.index_select.default", {arg(x), 0, arg(i)}, tensor_meta({1})));
  const auto executable = Executable::build(b.finish(), {});
  const at::Tensor in = value({4});
  try {
    executable->run(std::vector<c10::IValue>{in, at::full({1}, 9, at::kLong)});
    FAIL() << "nothing was thrown";
  } catch (const c10::IndexError& error) {
    EXPECT_NE(std::string(error.what()).find("'index_select'"), std::string::npos);
  }
  EXPECT_TRUE(
      at::equal(executable->run(std::vector<c10::IValue>{in, at::full({1}, 2, at::kLong)})[0], in.slice(0, 2, 3)));
}

TEST(ExecutableErrors, WrongInputsAreNamed) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4}));
  b.returns(b.call("aten.exp.default", {arg(x)}, tensor_meta({4})));
  const auto executable = Executable::build(b.finish(), {});
  EXPECT_NE(message([&] { executable->run({}); }).find("1 inputs, 0 were given"), std::string::npos);
  EXPECT_NE(message([&] { executable->run(std::vector<c10::IValue>{at::Tensor()}); }).find("'x' must be a tensor"),
            std::string::npos);
}

// Programs.

/// A random straight-line program over a few shapes, with views, reductions, products, updates and write-backs.
class RandomStep {
 public:
  explicit RandomStep(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) add_input();
    const int length = 5 + static_cast<int>(random_() % 40);
    for (int i = 0; i < length; ++i) add_call();
    for (int i = 0; i < 3; ++i) b_.returns(pick());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (random_() % 2 == 0) b_.writes(values_[i], pick());
    b_.finish();
  }
  const JointGraph& step() const { return b_.step; }
  std::vector<c10::IValue> inputs;

 private:
  static constexpr int64_t kN = 12;
  NodeId pick() { return values_[random_() % values_.size()]; }
  const graph::TensorMeta& meta(NodeId id) { return *b_.g()[id].tensor(); }
  static std::vector<int64_t> strides(const graph::TensorMeta& m) {
    return {(*m.stride)[0].value(), (*m.stride)[1].value()};
  }

  void add_input() {
    values_.push_back(b_.input("in" + std::to_string(inputs.size()), tensor_meta({kN, kN})));
    inputs.emplace_back(at::randn({kN, kN}));
  }
  PartitionerTag tag() { return random_() % 3 == 0 ? kOptimizer : PartitionerTag::kForward; }

  void add_call() {
    static const char* const kUnary[] = {"aten.neg.default",  "aten.abs.default", "aten.relu.default",
                                         "aten.tanh.default", "aten.exp.default", "aten.sigmoid.default"};
    static const char* const kBinary[] = {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor",
                                          "aten.maximum.default"};
    const NodeId x = pick();
    NodeId y = pick();
    const std::vector<int64_t> layout = strides(meta(x));
    const graph::TensorMeta like = tensor_meta({kN, kN}, layout);
    switch (random_() % 8) {
      case 0:
        return add(b_.call(kUnary[random_() % 6], {arg(x)}, like, tag()));
      case 1:
        return add(b_.call("aten.t.default", {arg(x)}, tensor_meta({kN, kN}, {layout[1], layout[0]})));
      case 2:
        return add(b_.call("aten.mm.default", {arg(x), arg(y)}, tensor_meta({kN, kN})));
      case 3:
        return add(b_.call("aten.mul.Tensor", {arg(x), 0.25}, like, tag()));
      case 4:
        return add(b_.call("aten.detach.default", {arg(x)}, like));
      default:
        if (strides(meta(y)) != layout) y = x;
        return add(b_.call(kBinary[random_() % 4], {arg(x), arg(y)}, like, tag()));
    }
  }
  void add(NodeId id) { values_.push_back(id); }

  std::mt19937 random_;
  StepBuilder b_;
  std::vector<NodeId> values_;
};

TEST(RandomSteps, EqualTheInterpreterBitForBit) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    at::manual_seed(seed);
    const RandomStep program(seed);
    EXPECT_NO_THROW(check_step(program.step(), program.inputs));
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

/// One thread: with more, some of ATen's kernels don't repeat themselves to the bit.
class CorpusStep : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

TEST_P(CorpusStep, EqualsTheInterpreterBitForBit) {
  JointGraph step;
  step.graph = interp::load_model(GetParam());
  at::manual_seed(3);
  const std::vector<c10::IValue> inputs = interp::make_random_inputs(step.graph, 3);
  const Expectation expected = expect(step, inputs, 5);
  const auto executable = Executable::build(step, {});
  const std::vector<c10::IValue> given = copies(inputs);
  at::manual_seed(5);
  const std::vector<at::Tensor> outputs = executable->run(given);
  ASSERT_EQ(outputs.size(), expected.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(difference(expected.outputs[i], outputs[i]), "") << "output " << i;
  const MemoryReport& memory = executable->memory();
  EXPECT_EQ(memory.live_bytes.size(), static_cast<size_t>(executable->launches()));
}

INSTANTIATE_TEST_SUITE_P(Models, CorpusStep, ::testing::ValuesIn(interp::runnable_models()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::exec
