#include <algorithm>

#include "check/handover.h"
#include "check/run_rules.h"
#include "check/symbol_rules.h"
#include "graph/verify.h"

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

void check_form(const Graph& graph, Part part, Findings& findings) {
  for (const graph::Violation& violation : graph::verify(graph))
    findings.add(kWellFormed, {part, violation.node == kNoNode ? std::string() : graph[violation.node].name},
                 violation.rule + ": " + violation.message, "Make the graph well-formed.");
}

/// The argument that a functionalised operator in `id` (a result of it, by name) overwrites.
NodeId original_argument(const JointFacts& facts, NodeId id) {
  const Node& item = facts.node(id);
  if (!item.is_call("operator.getitem") || item.args.size() < 2) return kNoNode;
  const auto* source = item.args[0].as<graph::NodeArg>();
  const auto* key = item.args[1].as<std::string>();
  if (!source || !key) return kNoNode;
  for (const auto& [name, value] : facts.node(source->id).kwargs) {
    const auto* entries = name == "kwargs" ? value.as<graph::DictArg>() : nullptr;
    if (!entries) continue;
    for (const auto& [argument, node] : entries->items)
      if (argument == *key && node.as<graph::NodeArg>()) return node.as<graph::NodeArg>()->id;
  }
  return kNoNode;
}

/// For an output of the forward that only the backward computes, written into an argument: that argument.
NodeId stand_in(const JointFacts& facts, NodeId id) {
  const Node& node = facts.node(id);
  const auto* first = node.args.empty() ? nullptr : node.args[0].as<graph::NodeArg>();
  const bool only_backward = facts.closure[JointFacts::at(id)] != 0;
  if (!first || !only_backward) return kNoNode;
  if (node.is_call("aten.copy_.default")) return first->id;
  const bool is_view = node.is_call("aten.view.default") || node.is_call("aten.reshape.default");
  return original_argument(facts, is_view ? first->id : id);
}

std::string output_text(size_t index, std::span<const NodeId> wanted, const JointFacts& facts) {
  const NodeId id = wanted[index];
  return "Output " + std::to_string(index) + " should be " +
         (id == kNoNode ? std::string("None") : "'" + facts.node(id).name + "'");
}

/// `wanted`: outputs of the joint graph; `found`: those of the part at the same places.
void compare_outputs(PairContext& context, const PartReader& part, std::span<const NodeId> wanted,
                     std::span<const NodeId> found) {
  const auto report = [&](NodeId id, const std::string& message) {
    context.findings.add(kOutputsEqual, {part.which(), id == kNoNode ? std::string() : part.graph()[id].name}, message,
                         "Return the values of the joint graph in its order.");
  };
  if (found.size() != wanted.size())
    report(kNoNode, "The part returns " + std::to_string(found.size()) + " results where the joint graph has " +
                        std::to_string(wanted.size()) + ".");
  for (size_t i = 0; i < std::min(wanted.size(), found.size()); ++i) {
    const ValueId expected = wanted[i] == kNoNode ? kNoValue : context.table.value_of(wanted[i]);
    const ValueId value = found[i] == kNoNode ? kNoValue : part.value_of(found[i]);
    const bool both_none = wanted[i] == kNoNode && found[i] == kNoNode;
    if (both_none || (wanted[i] != kNoNode && found[i] != kNoNode && expected == value)) continue;
    const NodeId replaced = wanted[i] == kNoNode ? kNoNode : stand_in(context.facts, wanted[i]);
    if (part.which() == Part::kForward && replaced != kNoNode && context.table.value_of(replaced) == value) continue;
    report(found[i], output_text(i, wanted, context.facts) + " of the joint graph, but is " +
                         (found[i] == kNoNode ? "None" : context.name_of(value)) + ".");
  }
}

void check_outputs(PairContext& context, const PartReader& forward, const PartReader& backward) {
  const std::vector<NodeId> joint = context.facts.graph.output_values();
  const int64_t count = context.facts.graph.num_forward_outputs;
  const auto split = static_cast<size_t>(std::clamp<int64_t>(count, 0, std::ssize(joint)));
  const std::vector<NodeId> first = forward.graph().output_values();
  const std::vector<NodeId> second = backward.graph().output_values();
  const std::span<const NodeId> all(joint);
  const std::span<const NodeId> returned(first);
  compare_outputs(context, forward, all.first(split), returned.first(std::min(split, first.size())));
  compare_outputs(context, backward, all.subspan(split), second);
}

}  // namespace

std::vector<Finding> check_pair(const Graph& joint, const Graph& forward, const Graph& backward,
                                const PairOptions& options) {
  Findings findings;
  check_form(joint, Part::kJoint, findings);
  check_form(forward, Part::kForward, findings);
  check_form(backward, Part::kBackward, findings);
  if (!findings.empty()) return std::move(findings).sorted();
  const JointFacts facts(joint);
  const ValueTable table(facts);
  PairContext context(facts, table, findings, options);
  PartReader first(context, forward, Part::kForward, nullptr);
  bind_forward_inputs(context, first);
  first.read();
  PartReader second(context, backward, Part::kBackward, &first);
  bind_backward_inputs(context, first, second);
  second.read();
  check_outputs(context, first, second);
  check_draws(context);
  check_effects(context);
  check_symbols(context, forward, Part::kForward);
  check_symbols(context, backward, Part::kBackward);
  return std::move(findings).sorted();
}

}  // namespace sapwood::check
