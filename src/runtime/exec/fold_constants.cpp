#include "runtime/exec/fold_constants.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "runtime/exec/launch.h"

namespace sapwood::exec {
namespace {

/// What is folded takes memory all the time; larger values are cheaper to compute again than to keep.
constexpr int64_t kMaxBytes = 1024;

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
    for (Call& call : program_.calls) insert_numbers(call);
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

  /// Programs of elementwise operators then hold the numbers themselves.
  void insert_numbers(Call& call) const {
    for (ElementaryOp& op : call.elementary)
      for (std::optional<PointwiseNumber>* number :
           {&op.a.number, &op.b.number, &op.c.number, &op.s, &op.t, &op.u, &op.w})
        if (*number && (*number)->kind == PointwiseNumber::Kind::kTensor &&
            program_.region((*number)->tensor).placement == Placement::kConstant)
          insert_number(**number);
  }

  void insert_number(PointwiseNumber& number) const {
    const at::Tensor& tensor = program_.tensor(number.tensor);
    number.kind = PointwiseNumber::Kind::kConstant;
    number.value = tensor.as_strided({}, {}, tensor.storage_offset()).item().toDouble();
    number.tensor = kNoValue;
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

void free_unread_constants(Program& program) {
  std::vector<bool> read(program.regions.size(), false);
  const auto mark = [&](ValueId value) {
    if (value != kNoValue) read[static_cast<size_t>(program.region_of(value))] = true;
  };
  for (const Call& call : program.calls) {
    std::for_each(call.reads.begin(), call.reads.end(), mark);
    std::for_each(call.results.begin(), call.results.end(), mark);
    std::for_each(call.mutated.begin(), call.mutated.end(), mark);
  }
  for (const OutputBinding& output : program.outputs) mark(output.value);
  for (size_t r = 0; r < program.regions.size(); ++r)
    if (!read[r] && program.regions[r].placement == Placement::kConstant)
      program.regions[r].storage->set_data_ptr_noswap(at::DataPtr(nullptr, c10::kCPU));
}

}  // namespace sapwood::exec
