#include <limits>
#include <random>

#include "exec_testing.h"
#include "runtime/exec/pointwise_exact.h"
#include "runtime/exec/pointwise_launch.h"

namespace sapwood::exec {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

template <typename T>
std::string missing_kernels() {
  std::string missing;
  for (size_t op = 0; op < kPointwiseOps; ++op)
    if (exact_kernels<T>().run[op] == nullptr) missing += std::to_string(op) + " ";
  return missing;
}

TEST(PointwiseExact, EveryOperatorHasAKernelOnAProcessorWithAvx2) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "needs AVX2 and FMA, as ATen's kernels here do";
  EXPECT_EQ(missing_kernels<float>(), "");
  EXPECT_EQ(missing_kernels<double>(), "");
}

/// A target with its numbers; `tensors` operands come first.
struct Case {
  std::string target;
  int tensors;
  std::vector<Argument> numbers;
  std::vector<std::pair<std::string, Argument>> keywords;
};

std::vector<Case> cases() {
  return {{"aten.add.Tensor", 2, {}, {}},
          {"aten.add.Tensor", 2, {}, {{"alpha", 0.3}}},
          {"aten.add.Tensor", 2, {}, {{"alpha", -1}}},
          {"aten.add.Tensor", 1, {0.7}, {}},
          {"aten.add.Scalar", 1, {0.7}, {}},
          {"aten.sub.Tensor", 2, {}, {}},
          {"aten.sub.Tensor", 2, {}, {{"alpha", 0.3}}},
          {"aten.sub.Tensor", 1, {0.7}, {}},
          {"aten.sub.Scalar", 1, {0.1}, {}},
          {"aten.rsub.Scalar", 1, {0.1}, {}},
          {"aten.rsub.Tensor", 2, {}, {}},
          {"aten.mul.Tensor", 2, {}, {}},
          {"aten.mul.Tensor", 1, {0.1}, {}},
          {"aten.mul.Scalar", 1, {3}, {}},
          {"aten.div.Tensor", 2, {}, {}},
          {"aten.div.Tensor", 1, {0.1}, {}},
          {"aten.div.Scalar", 1, {7}, {}},
          {"aten.neg.default", 1, {}, {}},
          {"aten.abs.default", 1, {}, {}},
          {"aten.sqrt.default", 1, {}, {}},
          {"aten.rsqrt.default", 1, {}, {}},
          {"aten.reciprocal.default", 1, {}, {}},
          {"aten.pow.Tensor_Scalar", 1, {2}, {}},
          {"aten.pow.Tensor_Scalar", 1, {3.0}, {}},
          {"aten.relu.default", 1, {}, {}},
          {"aten.clamp.default", 1, {-0.5, 0.5}, {}},
          {"aten.clamp.default", 1, {Argument(), 0.5}, {}},
          {"aten.clamp.default", 1, {-0.5}, {}},
          {"aten.clamp_min.default", 1, {0.1}, {}},
          {"aten.clamp_max.default", 1, {0.1}, {}},
          {"aten.hardtanh.default", 1, {0.0, 6.0}, {}},
          {"aten.maximum.default", 2, {}, {}},
          {"aten.minimum.default", 2, {}, {}},
          {"aten.addcmul.default", 3, {}, {}},
          {"aten.addcmul.default", 3, {}, {{"value", 0.001}}},
          {"aten.addcdiv.default", 3, {}, {}},
          {"aten.addcdiv.default", 3, {}, {{"value", -0.001}}},
          {"aten.lerp.Scalar", 2, {0.1}, {}},
          {"aten.lerp.Scalar", 2, {0.9}, {}},
          {"aten.threshold_backward.default", 2, {0}, {}},
          {"aten.threshold_backward.default", 2, {0.25}, {}},
          {"aten.sigmoid_backward.default", 2, {}, {}},
          {"aten.tanh_backward.default", 2, {}, {}}};
}

struct Layout {
  std::vector<int64_t> sizes, strides;
};

at::Tensor random_tensor(const Layout& layout, c10::ScalarType type) {
  at::Tensor tensor = at::empty_strided(layout.sizes, layout.strides, type);
  tensor.normal_();
  at::Tensor flat = tensor.as_strided({tensor.numel()}, {1});
  const double special[] = {0.0,
                            -0.0,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            1e-40,
                            -3e-42,
                            1e38,
                            5e-324};
  for (int64_t i = 0; i < flat.numel(); i += 7) flat[i].fill_(special[static_cast<size_t>(i / 7) % std::size(special)]);
  return tensor;
}

/// The operator twice over, so that it is fused: on the operands, and on its own result in the place of the last
/// operand.
void check_case(const Case& test, const Layout& layout, graph::DType dtype) {
  const graph::TensorMeta meta = tensor_meta(layout.sizes, layout.strides, dtype);
  StepBuilder b;
  graph::ArgumentList operands;
  for (int i = 0; i < test.tensors; ++i) operands.push_back(arg(b.input("x" + std::to_string(i), meta)));
  const auto call = [&](graph::ArgumentList args) {
    args.insert(args.end(), test.numbers.begin(), test.numbers.end());
    const NodeId id = b.call(test.target, std::move(args), meta);
    b.g().set_kwargs(id, test.keywords);
    return id;
  };
  const NodeId first = call(operands);
  operands.back() = arg(first);
  const NodeId second = call(operands);
  b.returns(second);
  b.returns(first);
  const JointGraph& step = b.finish();
  std::vector<c10::IValue> inputs;
  for (int i = 0; i < test.tensors; ++i) inputs.emplace_back(random_tensor(layout, interp::to_torch(dtype)));
  const auto executable = Executable::build(step, {});
  EXPECT_EQ(executable->fused_nodes(), 2) << test.target;
  const std::vector<at::Tensor> expected = expect(step, inputs, 1).outputs;
  const std::vector<at::Tensor> got = executable->run(inputs);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(difference(expected[i], got[i]), "")
        << test.target << " of " << at::IntArrayRef(layout.sizes) << ", result " << i;
}

TEST(Pointwise, EveryOperatorHasATensBits) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "needs AVX2 and FMA, as ATen's kernels here do";
  at::manual_seed(11);
  const Layout layouts[] = {{{1003}, {1}},  {{3, 7}, {7, 1}},  {{33, 65}, {1, 33}}, {{2, 5, 9, 11}, {495, 1, 55, 5}},
                            {{70001}, {1}}, {{1, 13}, {13, 1}}};
  for (const Case& test : cases())
    for (const Layout& layout : layouts)
      for (const graph::DType dtype : {graph::DType::kFloat32, graph::DType::kFloat64}) check_case(test, layout, dtype);
}

TEST(Pointwise, BroadcastsSingleElements) {
  for (const std::string target : {"aten.mul.Tensor", "aten.add.Tensor", "aten.div.Tensor", "aten.sub.Tensor"}) {
    StepBuilder b;
    const NodeId x = b.input("x", tensor_meta({77}));
    const NodeId factor = b.input("factor", tensor_meta({}));
    const NodeId first = b.call(target, {arg(x), arg(factor)}, tensor_meta({77}));
    b.returns(b.call(target, {arg(factor), arg(first)}, tensor_meta({77})));
    const JointGraph& step = b.finish();
    check_step(step, {at::randn({77}), at::scalar_tensor(0.3)});
    EXPECT_EQ(Executable::build(step, {})->fused_nodes(), 2);
  }
}

TEST(Pointwise, FilledTensorsBecomeNumbers) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({300, 300}));
  const NodeId ones = b.call("aten.full.default", {Argument::ints({300, 300}), 1.0}, tensor_meta({300, 300}));
  const NodeId rest = b.call("aten.sub.Tensor", {arg(ones), arg(x)}, tensor_meta({300, 300}));
  b.returns(b.call("aten.mul.Tensor", {arg(rest), arg(x)}, tensor_meta({300, 300})));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({300, 300})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 1);
}

TEST(Pointwise, FilledTensorsStayWhereSomethingElseReadsThem) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({300, 300}));
  const NodeId twos = b.call("aten.full.default", {Argument::ints({300, 300}), 2.0}, tensor_meta({300, 300}));
  const NodeId sum = b.call("aten.add.Tensor", {arg(twos), arg(x)}, tensor_meta({300, 300}));
  b.returns(b.call("aten.neg.default", {arg(sum)}, tensor_meta({300, 300})));
  b.returns(b.call("aten.mm.default", {arg(x), arg(twos)}, tensor_meta({300, 300})));
  check_step(b.finish(), {at::randn({300, 300})});
}

TEST(Pointwise, OtherLayoutsAndTypesStayWithATen) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({8, 8}));
  const NodeId t = b.call("aten.t.default", {arg(x)}, tensor_meta({8, 8}, {1, 8}));
  const NodeId sum = b.call("aten.add.Tensor", {arg(x), arg(t)}, tensor_meta({8, 8}));
  const NodeId row = b.input("row", tensor_meta({8}));
  const NodeId wide = b.call("aten.mul.Tensor", {arg(sum), arg(row)}, tensor_meta({8, 8}));
  const NodeId i = b.input("i", tensor_meta({8, 8}, {}, graph::DType::kInt64));
  b.returns(b.call("aten.add.Tensor", {arg(wide), arg(i)}, tensor_meta({8, 8})));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({8, 8}), at::randn({8}), at::randint(0, 9, {8, 8}, at::kLong)});
  EXPECT_EQ(Executable::build(step, {})->fused_nodes(), 0);
}

TEST(Pointwise, CallsOnBothSidesOfAnotherCallStayApart) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({8, 8}));
  const NodeId a = b.call("aten.neg.default", {arg(x)}, tensor_meta({8, 8}));
  const NodeId mm = b.call("aten.mm.default", {arg(a), arg(x)}, tensor_meta({8, 8}));
  b.returns(b.call("aten.add.Tensor", {arg(mm), arg(a)}, tensor_meta({8, 8})));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({8, 8})});
  EXPECT_EQ(Executable::build(step, {})->launches(), 3);
}

TEST(Pointwise, ValuesThatOnlyAViewNeedsAreStored) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({4, 8}));
  const NodeId a = b.call("aten.neg.default", {arg(x)}, tensor_meta({4, 8}));
  const NodeId v = b.call("aten.t.default", {arg(a)}, tensor_meta({8, 4}, {1, 8}));
  b.returns(b.call("aten.abs.default", {arg(a)}, tensor_meta({4, 8})));
  b.returns(b.call("aten.exp.default", {arg(v)}, tensor_meta({8, 4}, {1, 8})));
  check_step(b.finish(), {at::randn({4, 8})});
}

TEST(Pointwise, ManyTemporariesAreDeclinedNotMiscompiled) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({600}));
  std::vector<NodeId> values;
  for (int i = 0; i < 20; ++i)
    values.push_back(b.call("aten.mul.Tensor", {arg(x), 0.1 * i + 0.05}, tensor_meta({600})));
  NodeId sum = values[0];
  for (const NodeId value : values) sum = b.call("aten.add.Tensor", {arg(sum), arg(value)}, tensor_meta({600}));
  b.returns(sum);
  check_step(b.finish(), {at::randn({600})});
}

}  // namespace
}  // namespace sapwood::exec
