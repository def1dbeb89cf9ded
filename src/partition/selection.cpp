#include "partition/selection.h"

#include <algorithm>

#include "base/error.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

constexpr std::string_view kStage = "partition";
constexpr std::string_view kWaitTensor = "_c10d_functional.wait_tensor.default";

bool bound_elsewhere(const JointView& view, NodeId id, Side side) {
  const auto at = static_cast<size_t>(id);
  return (view.in_backward[at] && side != Side::kBackward) || (view.in_forward[at] && side != Side::kForward);
}

/// By NodeId: can be computed from the inputs.
std::vector<uint8_t> reachable_nodes(const JointView& view, const std::vector<NodeId>& inputs, Side side) {
  std::vector<uint8_t> valid(view.role.size(), 0);
  for (const NodeId id : inputs) valid[static_cast<size_t>(id)] = 1;
  for (const NodeId id : view.order) {
    const auto at = static_cast<size_t>(id);
    if (valid[at] || bound_elsewhere(view, id, side)) continue;
    if (view.role_of(id) == Role::kAttribute) valid[at] = 1;
    if (view.role_of(id) != Role::kCall) continue;
    valid[at] =
        std::ranges::all_of(view.inputs_of(id), [&](NodeId read) { return valid[static_cast<size_t>(read)] != 0; });
  }
  return valid;
}

/// The value that `id`, a result of an operator that writes to a named argument, has before the operator runs.
NodeId original_argument(const JointView& view, NodeId id) {
  if (!view.is_getitem(id)) return kNoNode;
  const Node& item = view.node(id);
  const auto* source = item.args.empty() ? nullptr : item.args[0].as<graph::NodeArg>();
  const auto* key = item.args.size() < 2 ? nullptr : item.args[1].as<std::string>();
  if (!source || !key) return kNoNode;
  for (const auto& [name, value] : view.node(source->id).kwargs) {
    const auto* entries = name == "kwargs" ? value.as<graph::DictArg>() : nullptr;
    if (!entries) continue;
    for (const auto& [argument, node] : entries->items)
      if (argument == *key && node.as<graph::NodeArg>()) return node.as<graph::NodeArg>()->id;
  }
  return kNoNode;
}

/// A forward output that only the backward computes, but that names an input: the input stands for it.
NodeId stand_in(const JointView& view, NodeId id) {
  const Node& node = view.node(id);
  const auto* first = node.args.empty() ? nullptr : node.args[0].as<graph::NodeArg>();
  if (node.target == "aten.copy_.default" && view.in_backward[static_cast<size_t>(id)] && first) return first->id;
  const bool is_reshape = node.target == "aten.view.default" || node.target == "aten.reshape.default";
  return original_argument(view, is_reshape && first ? first->id : id);
}

/// The first value on the way to `id` that can't be computed although it reads nothing that is missing.
NodeId missing_value(const JointView& view, const std::vector<uint8_t>& valid, NodeId id) {
  while (true) {
    const auto reads = view.inputs_of(id);
    const auto missing = std::ranges::find_if(reads, [&](NodeId read) { return !valid[static_cast<size_t>(read)]; });
    if (missing == reads.end()) return id;
    id = *missing;
  }
}

[[noreturn]] void refuse_output(const JointView& view, const std::vector<uint8_t>& valid, NodeId id, Side side) {
  const bool forward = side == Side::kForward;
  const NodeId missing = missing_value(view, valid, id);
  throw_unsupported(
      kStage, "output '" + view.node(id).name + "' of the " + (forward ? "forward" : "backward") +
                  " can't be computed: it needs '" + view.node(missing).name + "', which " +
                  (forward ? "only the backward has; check the graph's outputs and tags"
                           : "is neither saved nor can be recomputed; change the marks of it or of what reads it"));
}

}  // namespace

Selection select_nodes(const JointView& view, const std::vector<NodeId>& inputs, const std::vector<NodeId>& outputs,
                       Side side) {
  Selection selection;
  selection.inputs = inputs;
  selection.kept.assign(view.role.size(), 0);
  selection.uses.assign(view.role.size(), 0);
  const std::vector<uint8_t> valid = reachable_nodes(view, inputs, side);

  for (const NodeId wanted : outputs) {
    NodeId output = wanted;
    if (wanted != kNoNode && !valid[static_cast<size_t>(wanted)]) {
      output = stand_in(view, wanted);
      if (output == kNoNode || !valid[static_cast<size_t>(output)]) refuse_output(view, valid, wanted, side);
    }
    selection.outputs.push_back(output);
    if (output != kNoNode) ++selection.uses[static_cast<size_t>(output)];
  }
  for (const NodeId id : inputs) selection.kept[static_cast<size_t>(id)] = 1;
  for (auto it = view.order.rbegin(); it != view.order.rend(); ++it) {
    const auto at = static_cast<size_t>(*it);
    if (!valid[at] || selection.kept[at]) continue;
    if (selection.uses[at] == 0 && !view.is_impure(*it)) continue;
    selection.kept[at] = 1;
    selection.nodes.push_back(*it);
    for (const NodeId read : view.inputs_of(*it)) ++selection.uses[static_cast<size_t>(read)];
  }
  std::ranges::reverse(selection.nodes);
  return selection;
}

bool is_unused_input(const JointView& view, const Selection& selection, NodeId input) {
  int32_t waits = 0;
  for (const NodeId user : view.users_of(input)) {
    if (view.node(user).target != kWaitTensor || !selection.keeps(user) || selection.is_read(user)) continue;
    if (std::ranges::find(selection.inputs, user) == selection.inputs.end()) ++waits;
  }
  return waits == selection.uses[static_cast<size_t>(input)];
}

}  // namespace sapwood::partition
