#include "runtime/exec/lifetimes.h"

#include "exec_testing.h"

namespace sapwood::exec {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr int64_t kRow = 1024 * 4;  // bytes of a [1024] float tensor

int64_t arena_bytes(StepBuilder& b) {
  const JointGraph& step = b.finish();
  std::vector<c10::IValue> inputs;
  for (const graph::InputSpec& input : step.inputs) {
    const interp::TensorGeometry shape =
        interp::geometry(*step.graph[input.node].tensor(), interp::SymbolValues(step.graph.symbols), input.name);
    inputs.emplace_back(at::randn(shape.sizes));
  }
  check_step(step, inputs);
  return Executable::build(step, {.fuse_pointwise = false, .plan_memory = true})->memory().arena_bytes;
}

TEST(Reuse, AChainOfElementwiseCallsLivesInOneBuffer) {
  StepBuilder b;
  NodeId value = b.input("x", tensor_meta({1024}));
  for (int i = 0; i < 6; ++i) value = b.call("aten.tanh.default", {arg(value)}, tensor_meta({1024}));
  b.returns(b.call("aten.sum.default", {arg(value)}, tensor_meta({})));
  EXPECT_EQ(arena_bytes(b), kRow);
}

TEST(Reuse, AValueThatIsReadAgainKeepsItsMemory) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({1024}));
  const NodeId a = b.call("aten.tanh.default", {arg(x)}, tensor_meta({1024}));
  const NodeId c = b.call("aten.exp.default", {arg(a)}, tensor_meta({1024}));
  b.returns(b.call("aten.dot.default", {arg(a), arg(c)}, tensor_meta({})));
  EXPECT_EQ(arena_bytes(b), 2 * kRow);
}

TEST(Reuse, NotThroughATransposedReadOfTheSameValue) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({32, 32}));
  const NodeId a = b.call("aten.tanh.default", {arg(x)}, tensor_meta({32, 32}));
  const NodeId t = b.call("aten.t.default", {arg(a)}, tensor_meta({32, 32}, {1, 32}));
  const NodeId sum = b.call("aten.add.Tensor", {arg(a), arg(t)}, tensor_meta({32, 32}));
  b.returns(b.call("aten.sum.default", {arg(sum)}, tensor_meta({})));
  EXPECT_EQ(arena_bytes(b), 2 * kRow);
}

TEST(Reuse, NotByOperatorsThatReadOtherElements) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({32, 32}));
  const NodeId a = b.call("aten.tanh.default", {arg(x)}, tensor_meta({32, 32}));
  const NodeId product = b.call("aten.mm.default", {arg(a), arg(x)}, tensor_meta({32, 32}));
  b.returns(b.call("aten.sum.default", {arg(product)}, tensor_meta({})));
  EXPECT_EQ(arena_bytes(b), 2 * kRow);
}

TEST(Reuse, FusedProgramsKeepOperandsUntilTheirLastRead) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({1024}));
  const NodeId a = b.call("aten.tanh.default", {arg(x)}, tensor_meta({1024}));
  const NodeId n = b.call("aten.neg.default", {arg(a)}, tensor_meta({1024}));
  const NodeId m = b.call("aten.mul.Tensor", {arg(n), arg(a)}, tensor_meta({1024}));
  const NodeId e = b.call("aten.exp.default", {arg(n)}, tensor_meta({1024}));
  b.returns(b.call("aten.dot.default", {arg(m), arg(e)}, tensor_meta({})));
  EXPECT_EQ(arena_bytes(b), 2 * kRow);
}

}  // namespace
}  // namespace sapwood::exec
