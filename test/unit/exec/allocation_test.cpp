#include <c10/core/CPUAllocator.h>

#include "exec_testing.h"

namespace sapwood::exec {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

/// Counts what the allocator behind it hands out.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* behind) : behind_(behind) {}
  c10::DataPtr allocate(size_t bytes) override {
    ++count;
    return behind_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return behind_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  int64_t count = 0;

 private:
  c10::Allocator* behind_;
};

/// Puts a counting allocator in the place of the CPU's, for the life of this object.
class CountAllocations {
 public:
  CountAllocations() : before_(c10::GetCPUAllocator()), counting_(before_) {
    c10::SetCPUAllocator(&counting_, kPriority);
  }
  ~CountAllocations() { c10::SetCPUAllocator(before_, kPriority); }
  CountAllocations(const CountAllocations&) = delete;
  CountAllocations& operator=(const CountAllocations&) = delete;
  int64_t count() const { return counting_.count; }

 private:
  static constexpr uint8_t kPriority = 100;
  c10::Allocator* before_;
  CountingAllocator counting_;
};

/// A layer with its gradient and an update, of operators whose kernels allocate nothing but their result.
const JointGraph& layer_step(StepBuilder& b) {
  const auto op = [&](const std::string& target, graph::ArgumentList args, const graph::TensorMeta& meta) {
    return b.call(target, std::move(args), meta);
  };
  const NodeId x = b.input("x", tensor_meta({16, 32}));
  const NodeId w = b.input("w", tensor_meta({32, 8}), graph::InputRole::kParameter);
  const NodeId product = op("aten.mm.default", {arg(x), arg(w)}, tensor_meta({16, 8}));
  const NodeId active = op("aten.tanh.default", {arg(product)}, tensor_meta({16, 8}));
  b.returns(op("aten.sum.default", {arg(active)}, tensor_meta({})));
  const NodeId ones = op("aten.full.default", {Argument::ints({16, 8}), 1.0 / 128}, tensor_meta({16, 8}));
  const NodeId grad = op("aten.tanh_backward.default", {arg(ones), arg(active)}, tensor_meta({16, 8}));
  const NodeId xt = op("aten.t.default", {arg(x)}, tensor_meta({32, 16}, {1, 32}));
  const NodeId wgrad = op("aten.mm.default", {arg(xt), arg(grad)}, tensor_meta({32, 8}));
  const NodeId step = op("aten.mul.Tensor", {arg(wgrad), 0.1}, tensor_meta({32, 8}));
  b.writes(w, op("aten.sub.Tensor", {arg(w), arg(step)}, tensor_meta({32, 8})));
  return b.finish();
}

TEST(Allocations, ASteadyStepAllocatesItsOutputsAndNothingElse) {
  StepBuilder b;
  const JointGraph& step = layer_step(b);
  const std::vector<c10::IValue> inputs{at::randn({16, 32}), at::randn({32, 8})};
  check_step(step, inputs);
  const auto executable = Executable::build(step, {});
  executable->run(inputs);
  const CountAllocations counter;
  for (int i = 0; i < 5; ++i) executable->run(inputs);
  EXPECT_EQ(counter.count(), 5);  // the loss, each time
}

}  // namespace
}  // namespace sapwood::exec
