#include "driver/report_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

namespace sapwood::driver {
namespace {

std::string shape_text(const graph::Node& node) {
  const graph::TensorMeta* tensor = node.tensor();
  if (tensor == nullptr) return "";
  std::string sizes;
  for (const graph::SymExpr& size : tensor->shape) sizes += (sizes.empty() ? "" : ", ") + size.str();
  return fmt::format("{}[{}]", graph::dtype_name(tensor->dtype), sizes);
}

void describe_graph(const graph::Graph& graph, const partition::Plan& plan, SignatureReport& report) {
  std::map<std::string, int64_t> counts;
  for (const graph::NodeId id : graph.order()) {
    const graph::Node& node = graph[id];
    if (node.kind != graph::NodeKind::kCallFunction) continue;
    ++report.nodes;
    ++counts[node.target];
    if (node.meta->partitioner_tag == graph::PartitionerTag::kForward) ++report.forward_nodes;
    if (node.meta->partitioner_tag == graph::PartitionerTag::kBackward) ++report.backward_nodes;
    if (node.meta->partitioner_tag == graph::PartitionerTag::kOptimizer) ++report.optimizer_nodes;
  }
  report.ops.assign(counts.begin(), counts.end());
  std::stable_sort(report.ops.begin(), report.ops.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const partition::SavedValue& saved : plan.saved) {
    const graph::Node& node = graph[saved.node];
    if (node.kind == graph::NodeKind::kPlaceholder) continue;  // inputs and parameters are there anyway
    report.saved.push_back({node.name, shape_text(node), saved.bytes, saved.reason, node.meta->stack_trace});
    report.saved_bytes += saved.bytes;
  }
  for (const partition::RecomputedValue& value : plan.recomputed) report.recomputed.push_back(graph[value.node].name);
}

void describe_executable(const exec::Executable& executable, SignatureReport& report) {
  const exec::MemoryReport& memory = executable.memory();
  report.peak_live_bytes = std::max(report.peak_live_bytes, memory.peak_live_bytes);
  report.arena_bytes += memory.arena_bytes;
  report.live_bytes.insert(report.live_bytes.end(), memory.live_bytes.begin(), memory.live_bytes.end());
  report.launches += executable.launches();
  report.fused_nodes += executable.fused_nodes();
}

}  // namespace

void warn(const std::function<void(std::string_view)>& log, Report& report, std::string text) {
  try {
    if (log)
      log(text);
    else
      std::fprintf(stderr, "sapwood: %s\n", text.c_str());
  } catch (...) {
    std::fprintf(stderr, "sapwood: %s (the log function threw)\n", text.c_str());
  }
  report.warnings.push_back(std::move(text));
}

void describe(const CompiledStep& compiled, SignatureReport& report) {
  report.compiled = true;
  describe_graph(compiled.step().graph, compiled.plan(), report);
  describe_executable(compiled.executable(), report);
}

void describe(const FunctionPair& compiled, SignatureReport& report) {
  report.compiled = true;
  describe_graph(compiled.joint().graph, compiled.plan(), report);
  describe_executable(compiled.forward_executable(), report);
  describe_executable(compiled.backward_executable(), report);
}

}  // namespace sapwood::driver
