#include "unit/partition/scenarios.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "check/check.h"
#include "graph/text.h"
#include "partition/joint_view.h"
#include "unit/partition/pair_text.h"

namespace sapwood::test {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

bool is_symbol(const Graph& graph, NodeId id) {
  if (id == graph::kNoNode || !graph[id].val) return false;
  const graph::Value& value = *graph[id].val;
  return value.as<graph::SymIntValue>() || value.as<graph::SymFloatValue>() || value.as<graph::SymBoolValue>();
}

/// Calls of an operator, also those that run with a saved random state.
int64_t calls_of(const Graph& part, const std::string& target) {
  int64_t count = count_calls(part, target);
  for (const NodeId id : part.order())
    for (const graph::Argument& argument : part[id].args)
      if (const auto* op = argument.as<graph::OperatorArg>()) count += op->name == target;
  return count;
}

void expect_marked(const Split& split) {
  for (const NodeId id : split.parts.backward.order()) {
    const Node& node = split.parts.backward[id];
    if (node.kind != graph::NodeKind::kCallFunction) continue;
    EXPECT_TRUE(node.meta->autograd_backward) << node.name;
    const NodeId original = split.joint.find(node.name);
    if (original == graph::kNoNode) continue;
    EXPECT_EQ(node.meta->partitioner_tag, split.joint[original].meta->partitioner_tag) << node.name;
  }
}

void expect_symbols_last(const Split& split) {
  const std::vector<NodeId> outputs = split.parts.forward.output_values();
  bool symbols = false;
  for (size_t i = static_cast<size_t>(split.joint.num_forward_outputs); i < outputs.size(); ++i) {
    const bool symbol = is_symbol(split.parts.forward, outputs[i]);
    EXPECT_TRUE(symbol || !symbols) << "a tensor is handed over behind a symbol, at " << i;
    symbols = symbol;
  }
}

}  // namespace

Graph scenario(const std::string& name) {
  Graph joint = graph::parse_any(read_file(std::string(SAPWOOD_TEST_DATA) + "/scenarios/" + name + ".json.zst"));
  // AOTAutograd puts the tangent of an effect token where the backward first needs it.
  NodeId first = joint.first();
  while (joint[first].kind == graph::NodeKind::kPlaceholder) first = joint[first].next;
  for (const NodeId id : joint.placeholders())
    if (joint[id].target == "tangents_token") joint.move_before(id, first);
  return joint;
}

std::vector<std::string> Split::saved() const {
  std::vector<std::string> names;
  for (const auto* values : {&plan.saved, &plan.saved_objects, &plan.saved_symbols})
    for (const partition::SavedValue& value : *values) names.push_back(joint[value.node].name);
  return names;
}

std::vector<std::string> Split::saved_memory() const {
  const partition::JointView view = partition::view_joint(joint, true);
  std::set<std::string> names;
  for (const partition::SavedValue& value : plan.saved) {
    NodeId id = value.node;
    while (view.is_view(id)) id = view.inputs_of(id)[0];
    names.insert(joint[id].name);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> Split::outputs() const { return output_names(parts.forward); }

int64_t Split::forward_calls(const std::string& target) const { return calls_of(parts.forward, target); }
int64_t Split::backward_calls(const std::string& target) const { return calls_of(parts.backward, target); }

std::vector<size_t> Split::counts() const {
  return {parts.forward.placeholders().size(), parts.forward.output_values().size(),
          parts.backward.placeholders().size(), parts.backward.output_values().size()};
}

Split split(const Graph& joint, const partition::PartitionOptions& options) {
  Split result;
  result.recorded = joint;
  result.joint = joint;
  result.plan = partition::partition(result.joint, options, &result.decision);
  result.parts = partition::extract(result.joint, result.plan);
  return result;
}

std::string findings(const Split& split) {
  std::string text;
  for (const check::Finding& finding : check::check_pair(split.recorded, split.parts.forward, split.parts.backward))
    text += check::describe(finding) + "\n";
  return text;
}

void expect_good(const Split& split) {
  expect_sound(split.parts.forward);
  expect_sound(split.parts.backward);
  EXPECT_EQ(findings(split), "");
  expect_marked(split);
  expect_symbols_last(split);
}

const std::vector<partition::Compatibility>& modes() {
  static const std::vector<partition::Compatibility> both = {partition::Compatibility::kRepaired,
                                                             partition::Compatibility::kTorch213};
  return both;
}

std::string mode_name(partition::Compatibility mode) {
  return mode == partition::Compatibility::kRepaired ? "Repaired" : "Torch213";
}

partition::PartitionOptions in_mode(partition::Compatibility mode, double budget) {
  partition::PartitionOptions options;
  options.compatibility = mode;
  options.activation_memory_budget = budget;
  return options;
}

}  // namespace sapwood::test
