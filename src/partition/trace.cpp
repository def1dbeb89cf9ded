#include "partition/trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "ops/op_table.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using Json = nlohmann::ordered_json;

constexpr double kGiga = 1e9;

Json names_json(const Graph& joint, const std::vector<NodeId>& nodes) {
  Json list = Json::array();
  for (const NodeId id : nodes) list.push_back(joint[id].name);
  return list;
}

std::string shape_text(const Node& node) {
  std::string text = "[";
  if (const graph::TensorMeta* tensor = node.tensor())
    for (size_t i = 0; i < tensor->shape.size(); ++i) text += (i ? ", " : "") + tensor->shape[i].str();
  return text + "]";
}

bool contains(const std::vector<int32_t>& list, size_t item) {
  return std::ranges::find(list, static_cast<int32_t>(item)) != list.end();
}

Json candidate_json(const KnapsackRecord& knapsack, size_t index) {
  return {{"recomputable_node_idx", index},
          {"memory", knapsack.bytes[index]},
          {"runtime", knapsack.problem.runtime[index]},
          {"is_saved", contains(knapsack.choice.saved, index)},
          {"is_recomputed", contains(knapsack.choice.dropped, index)}};
}

Json node_json(const Graph& joint, NodeId id, size_t index) {
  const Node& node = joint[id];
  return {{"index", index},
          {"name", node.name},
          {"is_recomputable_candidate", false},
          {"target", node.target},
          {"shape", shape_text(node)},
          {"input_arguments", names_json(joint, joint.inputs(id))},
          {"stack_trace", node.meta->stack_trace}};
}

Json nodes_json(const Graph& joint, const KnapsackRecord& knapsack) {
  Json nodes = Json::object();
  size_t index = 0;
  for (const NodeId id : joint.order()) nodes[joint[id].name] = node_json(joint, id, index++);
  for (size_t i = 0; i < knapsack.candidates.size(); ++i) {
    Json& node = nodes[joint[knapsack.candidates[i]].name];
    node["is_recomputable_candidate"] = true;
    node["recomputable_candidate_info"] = candidate_json(knapsack, i);
  }
  return nodes;
}

Json edges_json(const Graph& joint) {
  Json edges = Json::array();
  for (const NodeId id : joint.order())
    for (const NodeId input : joint.inputs(id)) edges.push_back({joint[input].name, joint[id].name});
  return {{"Total", edges.size()}, {"Edges", edges}};
}

int64_t bytes_of(const Graph& joint, const std::vector<NodeId>& values) {
  int64_t sum = 0;
  for (const NodeId id : values)
    if (joint[id].val) sum += value_bytes(*joint[id].val, joint.symbols);
  return sum;
}

std::string switches(const SolveRecord& solve) {
  std::string text;
  const auto add = [&](bool on, const char* name) {
    if (on) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(solve.ban_not_in_allowlist, "list of cheap operators");
  add(solve.ban_materialized_backward, "materialized");
  add(solve.ban_used_far_apart, "far apart");
  add(solve.ban_long_fusible_chains, "long chains");
  add(solve.ban_reductions, "reductions");
  return text.empty() ? "no rule" : text;
}

}  // namespace

std::string trace_json(const Graph& joint, const Decision& decision) {
  const KnapsackRecord knapsack = decision.knapsack.value_or(KnapsackRecord{});
  Json out;
  out["Joint Graph Size"] = joint.size();
  out["Joint Graph Edges"] = edges_json(joint);
  out["Joint Graph Node Information"] = nodes_json(joint, knapsack);
  out["Recomputable Banned Nodes Order"] = names_json(joint, knapsack.candidates);
  out["Expected Runtime"] = knapsack.choice.runtime;
  out["Knapsack Saved Nodes"] = knapsack.choice.saved;
  out["Knapsack Recomputed Nodes"] = knapsack.choice.dropped;
  out["Absolute Memories"] = knapsack.bytes;
  out["Knapsack Input Memories"] = knapsack.problem.memory;
  out["Knapsack Input Runtimes"] = knapsack.problem.runtime;
  out["Min Cut Solution Saved Values"] = names_json(joint, decision.saved);
  out["Memory Budget"] = decision.budget;
  out["Min Activation Size (GB)"] = static_cast<double>(decision.input_bytes) / kGiga;
  out["Max Activation Size (GB)"] = static_cast<double>(decision.fastest_bytes) / kGiga;
  out["Saved Values Activation Size (GB)"] = static_cast<double>(bytes_of(joint, decision.saved)) / kGiga;
  out["More Aggressive Saved Values Mem Ratio"] = decision.more_aggressive_ratio;
  out["Aggressive Recomputation Saved Values Mem Ratio"] = decision.aggressive_ratio;
  return out.dump() + "\n";
}

std::string debug_report(const Graph& joint, const Plan& plan) {
  std::vector<std::pair<int64_t, std::string>> sizes;
  for (const SavedValue& value : plan.saved) sizes.emplace_back(value.bytes, joint[value.node].name);
  std::ranges::sort(sizes, std::greater<>());
  std::string out = std::to_string(plan.saved_bytes()) + " bytes kept between forward and backward, inputs apart:\n";
  for (const auto& [bytes, name] : sizes) out += "  " + std::to_string(bytes) + "  " + name + "\n";

  std::map<std::string, int64_t> counts;
  for (const RecomputedValue& value : plan.recomputed) ++counts[ops::describe(joint, joint[value.node]).packet];
  std::vector<std::pair<int64_t, std::string>> repeated;
  for (const auto& [name, count] : counts) repeated.emplace_back(count, name);
  std::ranges::stable_sort(repeated, std::greater<>(), &std::pair<int64_t, std::string>::first);
  out += std::to_string(plan.recomputed.size()) + " calls run in both parts:\n";
  for (const auto& [count, name] : repeated) out += "  " + std::to_string(count) + "  " + name + "\n";
  return out;
}

std::string describe_solves(const Graph& joint, const Decision& decision) {
  std::string out;
  for (size_t i = 0; i < decision.solves.size(); ++i) {
    const SolveRecord& solve = decision.solves[i];
    out += "cut " + std::to_string(i + 1) + " (" + switches(solve) + "; " + std::to_string(solve.released.size()) +
           " released, " + std::to_string(solve.banned.size()) + " banned): value " + std::to_string(solve.cut_value) +
           ", saves";
    for (const NodeId id : solve.saved) out += " " + joint[id].name;
    out += "\n";
  }
  if (!decision.knapsack) return out;
  const KnapsackRecord& knapsack = *decision.knapsack;
  return out + "knapsack: " + std::to_string(knapsack.candidates.size()) + " candidates, " +
         std::to_string(knapsack.choice.saved.size()) + " kept within " + std::to_string(knapsack.problem.max_memory) +
         "\n";
}

}  // namespace sapwood::partition
