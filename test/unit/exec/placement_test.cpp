#include "runtime/exec/placement.h"

#include "exec_testing.h"

namespace sapwood::exec {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr int64_t kRowBytes = 4096 * 4;  // bytes of a [4096] float tensor

graph::TensorMeta row() { return tensor_meta({4096}); }

NodeId sum(StepBuilder& b, NodeId x) { return b.call("aten.sum.default", {arg(x)}, tensor_meta({})); }

NodeId unary(StepBuilder& b, const std::string& name, NodeId x) {
  return b.call("aten." + name + ".default", {arg(x)}, row());
}

/// A result that its kernel allocates itself.
NodeId padded(StepBuilder& b, NodeId x) {
  return b.call("aten.constant_pad_nd.default", {arg(x), Argument(graph::ListArg{{int64_t{0}, int64_t{0}}}), 0.0},
                row());
}

TEST(Placement, ArenaAndHeapTogetherAreNoLargerThanWhatIsAlive) {
  StepBuilder b;
  const NodeId x = b.input("x", row());
  const NodeId e = unary(b, "exp", x), s = unary(b, "sin", x), c = unary(b, "cos", x);
  b.returns(b.call("aten.stack.default", {Argument(graph::ListArg{{arg(sum(b, e)), arg(sum(b, s)), arg(sum(b, c))}})},
                   tensor_meta({3})));
  const NodeId dot =
      b.call("aten.dot.default", {arg(b.call("aten.mul.Tensor", {arg(e), arg(s)}, row())), arg(c)}, tensor_meta({}));
  b.returns(dot);
  const NodeId p = padded(b, x), q = padded(b, p);
  b.returns(b.call("aten.dot.default", {arg(p), arg(q)}, tensor_meta({})));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({4096})});
  const std::unique_ptr<Executable> executable = Executable::build(step, {});
  const int64_t heap = 2 * kRowBytes;
  EXPECT_LE(executable->memory().arena_bytes + heap, executable->memory().peak_live_bytes + 64);
}

TEST(Placement, ValuesThatCostMoreToKeepThanToMakeAreMadeWhenTheyAreNeeded) {
  StepBuilder b;
  const NodeId x = b.input("x", row());
  const NodeId ones = b.call("aten.ones_like.default", {arg(x)}, row());
  const NodeId first = sum(b, unary(b, "exp", unary(b, "sin", unary(b, "cos", x))));
  b.returns(first);
  b.returns(b.call("aten.dot.default", {arg(x), arg(ones)}, tensor_meta({})));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({4096})});
  EXPECT_LT(Executable::build(step, {})->memory().peak_live_bytes, kRowBytes + 64);
}

TEST(Placement, FusionDoesNotKeepTwoOperandsInsteadOfOneResult) {
  StepBuilder b;
  const NodeId x = b.input("x", row());
  const NodeId e = unary(b, "exp", x), s = unary(b, "sin", x);
  const NodeId product = b.call("aten.mul.Tensor", {arg(e), arg(s)}, row());
  const NodeId far = unary(b, "exp", unary(b, "cos", unary(b, "exp", unary(b, "sin", unary(b, "cos", x)))));
  const NodeId total = b.call("aten.dot.default", {arg(far), arg(far)}, tensor_meta({}));
  b.returns(b.call("aten.mul.Tensor", {arg(product), arg(total)}, row()));
  const JointGraph& step = b.finish();
  check_step(step, {at::randn({4096})});
  EXPECT_LE(Executable::build(step, {})->memory().peak_live_bytes, 3 * kRowBytes);
}

TEST(Placement, TheUnreducedLossIsPlanned) {
  for (const char* loss : {"aten.mse_loss.default", "aten.smooth_l1_loss.default", "aten.huber_loss.default"}) {
    for (const int64_t reduction : {1, 2}) {
      StepBuilder b;
      const NodeId x = b.input("x", tensor_meta({33, 129})), y = b.input("y", tensor_meta({33, 129}));
      b.returns(b.call(loss, {arg(x), arg(y), reduction}, tensor_meta({})));
      const JointGraph& step = b.finish();
      check_step(step, {at::randn({33, 129}), at::randn({33, 129})});
      EXPECT_GE(Executable::build(step, {})->memory().arena_bytes, 33 * 129 * 4) << loss;
    }
  }
}

TEST(Placement, LossesOfTensorsThatAreBroadcastOrTransposed) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({12, 9})), y = b.input("y", tensor_meta({12, 9}, {1, 12}));
  b.returns(b.call("aten.mse_loss.default", {arg(x), arg(y), int64_t{1}}, tensor_meta({})));
  check_step(b.finish(), {at::randn({12, 9}), at::randn({9, 12}).t()});
}

JointGraph chain(int64_t size) {
  StepBuilder b;
  const NodeId x = b.input("x", tensor_meta({size}));
  const NodeId e = b.call("aten.exp.default", {arg(x)}, tensor_meta({size}));
  const NodeId s = b.call("aten.sin.default", {arg(e)}, tensor_meta({size}));
  b.returns(b.call("aten.dot.default", {arg(e), arg(s)}, tensor_meta({})));
  return b.finish();
}

TEST(Workspace, ExecutablesOfDifferentSizesTakeTurnsInOne) {
  const auto workspace = std::make_shared<Workspace>();
  const JointGraph small = chain(100), large = chain(100000);
  const auto build = [&](const JointGraph& step) { return Executable::build(step, {.workspace = workspace}); };
  const std::unique_ptr<Executable> first = build(small);
  const size_t before = workspace->bytes();
  const std::unique_ptr<Executable> second = build(large);
  EXPECT_GT(workspace->bytes(), before);
  EXPECT_EQ(workspace->bytes(), static_cast<size_t>(second->memory().arena_bytes));
  for (int i = 0; i < 3; ++i) {
    for (const auto& [step, executable] : {std::pair(&small, first.get()), std::pair(&large, second.get())}) {
      const std::vector<c10::IValue> inputs{at::randn({step == &small ? 100 : 100000})};
      EXPECT_EQ(difference(expect(*step, inputs, 1).outputs[0], executable->run(inputs)[0]), "");
    }
  }
}

}  // namespace
}  // namespace sapwood::exec
