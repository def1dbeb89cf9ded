#include "runtime/exec/finish_program.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/exec/fold_constants.h"
#include "runtime/exec/in_place.h"
#include "runtime/exec/lifetimes.h"
#include "runtime/exec/memory_plan.h"
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

/// Regions whose memory comes with a kernel's result.
std::vector<bool> allocated_by_kernel(const Program& program) {
  std::vector<bool> result(program.regions.size(), false);
  for (const Call& call : program.calls)
    if (call.kind == CallKind::kFunctional)
      for (const ValueId value : call.results)
        if (value != kNoValue) result[static_cast<size_t>(program.region_of(value))] = true;
  return result;
}

/// Everything goes into the arena but what leaves the step and what a kernel allocates itself.
void choose_arena_regions(Program& program) {
  const std::vector<bool> by_kernel = allocated_by_kernel(program);
  for (size_t r = 0; r < program.regions.size(); ++r)
    if (program.regions[r].placement == Placement::kOwned && !by_kernel[r])
      program.regions[r].placement = Placement::kArena;
}

/// When every region is in use, and whose memory it takes over.
struct Lives {
  std::vector<Lifetime> of;
  std::vector<RegionId> owner;  ///< itself if it has its own memory

  bool has_own_memory(size_t region) const {
    return of[region].first >= 0 && owner[region] == static_cast<RegionId>(region);
  }
};

Lives find_lives(const Program& program) {
  Lives lives{find_lifetimes(program), {}};
  std::vector<bool> in_arena;
  for (const Region& region : program.regions) in_arena.push_back(region.placement == Placement::kArena);
  lives.owner = reuse_dying_operands(program, in_arena, lives.of);
  return lives;
}

void fill_report(const Program& program, const Lives& lives, MemoryReport& report) {
  std::vector<int64_t> born(program.calls.size(), 0);
  std::vector<int64_t> dead(program.calls.size(), 0);
  for (size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    if (!lives.has_own_memory(r) || region.placement == Placement::kInput || region.placement == Placement::kConstant)
      continue;
    born[static_cast<size_t>(lives.of[r].first)] += region.bytes;
    if (region.placement != Placement::kOutput) dead[static_cast<size_t>(lives.of[r].last)] += region.bytes;
  }
  int64_t live = 0;
  for (size_t c = 0; c < program.calls.size(); ++c) {
    live += born[c];
    report.peak_live_bytes = std::max(report.peak_live_bytes, live);
    live -= dead[c];
    report.live_bytes.push_back(live);
  }
}

void make_arena(Program& program, const Lives& lives, FinishedProgram& finished) {
  std::vector<MemoryBlock> blocks;
  std::vector<size_t> owners;
  for (size_t r = 0; r < program.regions.size(); ++r) {
    if (program.regions[r].placement != Placement::kArena || !lives.has_own_memory(r)) continue;
    blocks.push_back({program.regions[r].bytes, lives.of[r].first, lives.of[r].last});
    owners.push_back(r);
  }
  const ArenaPlan plan = plan_memory(blocks);
  if (const std::vector<std::string> problems = check_plan(blocks, plan); !problems.empty())
    throw_internal("exec", "memory plan: " + problems.front());
  finished.memory.arena_bytes = plan.arena_bytes;
  finished.arena = c10::GetCPUAllocator()->allocate(static_cast<size_t>(plan.arena_bytes));
  for (size_t i = 0; i < blocks.size(); ++i) program.regions[owners[i]].arena_offset = plan.offsets[i];
  for (size_t r = 0; r < program.regions.size(); ++r) {
    Region& region = program.regions[r];
    if (region.placement != Placement::kArena) continue;
    region.arena_offset = program.regions[static_cast<size_t>(lives.owner[r])].arena_offset;
    region.storage->set_data_ptr_noswap(
        at::DataPtr(static_cast<char*>(finished.arena.get()) + region.arena_offset, c10::kCPU));
  }
}

void add_allocations(const Program& program, const Lives& lives, std::vector<Launch>& launches) {
  const std::vector<bool> by_kernel = allocated_by_kernel(program);
  for (size_t r = 0; r < program.regions.size(); ++r) {
    const Region& region = program.regions[r];
    if ((region.placement != Placement::kOwned && region.placement != Placement::kOutput) || lives.of[r].first < 0)
      continue;
    if (!by_kernel[r])
      launches[static_cast<size_t>(lives.of[r].first)].allocations.push_back(
          {region.storage.get(), static_cast<size_t>(region.bytes)});
    if (region.placement == Placement::kOwned)
      launches[static_cast<size_t>(lives.of[r].last)].releases.push_back(region.storage.get());
  }
}

/// Fusion, in-place write-backs and order.
void optimize(Program& program, bool fuse, int64_t& fused) {
  CallGraph order = fuse ? fuse_pointwise(program, fused) : find_order(program);
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
  if (options.plan_memory) choose_arena_regions(program);
  const Lives lives = find_lives(program);
  if (options.plan_memory) make_arena(program, lives, finished);
  fill_report(program, lives, finished.memory);
  for (const Call& call : program.calls) {
    finished.launches.push_back(make_launch(program, call, step));
    finished.launch_nodes.push_back(call.node);
  }
  add_allocations(program, lives, finished.launches);
  return finished;
}

}  // namespace sapwood::exec
