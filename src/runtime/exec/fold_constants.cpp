#include "runtime/exec/fold_constants.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "runtime/exec/launch.h"

namespace sapwood::exec {
namespace {

constexpr int64_t kMaxBytes = 64 << 10;

class Folder {
 public:
  Folder(Program& program, const graph::JointGraph& step)
      : program_(program), step_(step), mutated_(program.regions.size(), false) {
    for (const Call& call : program.calls)
      for (const ValueId value : call.mutated) mutated_[static_cast<size_t>(program.region_of(value))] = true;
  }

  void run() {
    std::vector<Call> rest;
    for (Call& call : program_.calls) {
      if (is_constant(call))
        fold(call);
      else
        rest.push_back(std::move(call));
    }
    program_.calls = std::move(rest);
  }

 private:
  bool is_constant(const Call& call) const {
    if (call.ordered || !call.scalars.empty() || call.kind == CallKind::kMutate) return false;
    const auto constant = [this](ValueId value) { return program_.region(value).placement == Placement::kConstant; };
    if (!std::all_of(call.reads.begin(), call.reads.end(), constant)) return false;
    int64_t bytes = 0;
    for (const ValueId value : call.results) {
      if (value == kNoValue || mutated_[static_cast<size_t>(program_.region_of(value))]) return false;
      bytes += program_.region(value).bytes;
    }
    return bytes <= kMaxBytes;
  }

  void fold(const Call& call) {
    Launch launch;
    launch.kind = call.kind;
    launch.callable = call.callable;
    launch.stack = call.stack;
    launch.name = step_.graph[call.node].name;
    for (const ValueId value : call.results) {
      Region& region = program_.region(value);
      region.placement = Placement::kConstant;
      if (call.kind == CallKind::kFunctional)
        launch.results.push_back(program_.tensor(value));
      else
        launch.allocations.push_back({region.storage.get(), static_cast<size_t>(region.bytes)});
    }
    torch::jit::Stack stack;
    run_launch(launch, {}, stack);
  }

  Program& program_;
  const graph::JointGraph& step_;
  std::vector<bool> mutated_;
};

}  // namespace

void fold_constants(Program& program, const graph::JointGraph& step) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  Folder(program, step).run();
}

}  // namespace sapwood::exec
