#include "runtime/exec/finish_program.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/exec/fold_constants.h"
#include "runtime/exec/in_place.h"
#include "runtime/exec/memory_plan.h"
#include "runtime/exec/placement.h"
#include "runtime/exec/pointwise_fuse.h"
#include "runtime/exec/schedule.h"
#include "runtime/exec/write_back.h"

namespace sapwood::exec {
namespace {

void place_outputs(Program& program) {
  for (const OutputBinding& output : program.outputs) {
    if (output.value == kNoValue || output.role == graph::OutputRole::kWriteBack) continue;
    Region& region = program.region(output.value);
    if (region.placement == Placement::kOwned) region.placement = Placement::kOutput;
  }
}

std::shared_ptr<PointwiseLaunch> make_pointwise(const Program& program, const Call& call) {
  std::vector<PointwiseProgram> parts;
  const auto add = [&](const std::vector<ElementaryOp>& ops, const std::vector<ValueId>& results) {
    std::optional<PointwiseProgram> compiled = compile_pointwise(program, ops, results);
    if (!compiled) throw_internal("exec", "a fused program that could be compiled before can't be any more");
    parts.push_back(std::move(*compiled));
  };
  if (call.merged.empty()) add(call.elementary, call.results);
  for (const auto& [ops, results] : call.merged) add(ops, results);
  return std::make_shared<PointwiseLaunch>(program, std::move(parts));
}

Launch make_launch(const Program& program, const Call& call, const graph::JointGraph& step) {
  Launch launch;
  launch.kind = call.kind;
  launch.callable = call.callable;
  launch.stack = call.stack;
  launch.scalars = call.scalars;
  if (call.kind == CallKind::kPointwise) launch.pointwise = make_pointwise(program, call);
  launch.name = call.node == graph::kNoNode ? "copy at the end of the step" : step.graph[call.node].name;
  const auto complex = [&](ValueId v) { return v != kNoValue && program.tensor(v).is_complex(); };
  launch.full_dispatch = std::any_of(call.reads.begin(), call.reads.end(), complex) ||
                         std::any_of(call.results.begin(), call.results.end(), complex);
  if (call.kind == CallKind::kFunctional)
    for (const ValueId value : call.results)
      launch.results.push_back(value == kNoValue ? at::Tensor() : program.tensor(value));
  return launch;
}

void make_arena(Program& program, const Lives& lives, FinishedProgram& finished) {
  std::vector<MemoryBlock> blocks;
  std::vector<size_t> owners;
  for (size_t r = 0; r < program.regions.size(); ++r) {
    if (program.regions[r].placement != Placement::kArena || !has_own_memory(program, lives, r)) continue;
    blocks.push_back({program.regions[r].bytes, lives[r].first, lives[r].last});
    owners.push_back(r);
  }
  const ArenaPlan plan = plan_memory(blocks);
  if (const std::vector<std::string> problems = check_plan(blocks, plan); !problems.empty())
    throw_internal("exec", "memory plan: " + problems.front());
  finished.memory.arena_bytes = plan.arena_bytes;
  for (size_t i = 0; i < blocks.size(); ++i) program.regions[owners[i]].arena_offset = plan.offsets[i];
  for (Region& region : program.regions)
    if (region.placement == Placement::kArena && region.owner >= 0)
      region.arena_offset = program.regions[static_cast<size_t>(region.owner)].arena_offset;
}

void add_heap_memory(const Program& program, const Lives& lives, std::vector<Launch>& launches) {
  const std::vector<bool> by_kernel = allocated_by_kernel(program);
  for (size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    const Lifetime& life = lives[r];
    if ((region.placement != Placement::kOwned && region.placement != Placement::kOutput) || life.first < 0) continue;
    if (!has_own_memory(program, lives, r)) {
      const Region& owner = program.regions[static_cast<size_t>(region.owner)];
      launches[static_cast<size_t>(life.first)].shares.push_back({owner.storage.get(), region.storage.get()});
      continue;
    }
    if (!by_kernel[r])
      launches[static_cast<size_t>(life.first)].allocations.push_back(
          {region.storage.get(), static_cast<size_t>(region.bytes)});
    if (region.placement == Placement::kOwned)
      launches[static_cast<size_t>(life.last)].releases.push_back(region.storage.get());
  }
}

/// Fusion, in-place write-backs and order.
void optimize(Program& program, bool fuse, int64_t& fused) {
  CallGraph order = fuse ? fuse_pointwise(program, fused) : find_order(program);
  free_unread_constants(program);
  write_back_in_place(program, order);
  schedule_calls(program, order);
}

}  // namespace

FinishedProgram finish_program(Program& program, const graph::JointGraph& step, const ExecutableOptions& options) {
  FinishedProgram finished;
  if (options.fuse_pointwise || options.plan_memory) fold_constants(program, step);
  snapshot_overwritten_outputs(program);
  if (options.fuse_pointwise || options.plan_memory) optimize(program, options.fuse_pointwise, finished.fused_nodes);
  append_write_back_copies(program);
  place_outputs(program);
  const Lives lives = options.plan_memory ? place_values(program) : find_lifetimes(program);
  if (options.plan_memory) make_arena(program, lives, finished);
  report_memory(program, lives, finished.memory);
  for (const Call& call : program.calls) {
    finished.launches.push_back(make_launch(program, call, step));
    finished.launch_nodes.push_back(call.node);
  }
  add_heap_memory(program, lives, finished.launches);
  return finished;
}

}  // namespace sapwood::exec
