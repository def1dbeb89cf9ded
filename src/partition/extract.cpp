#include "partition/extract.h"

#include <algorithm>

#include "partition/offload.h"
#include "partition/pair.h"
#include "partition/partition.h"
#include "partition/quantize.h"
#include "partition/random_state.h"
#include "partition/remap.h"
#include "partition/saved_values.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

std::vector<NodeId> nodes_of(const std::vector<SavedValue>& values) {
  std::vector<NodeId> nodes;
  for (const SavedValue& value : values) nodes.push_back(value.node);
  return nodes;
}

void append(std::vector<NodeId>& list, const std::vector<NodeId>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

std::vector<NodeId> with_role(const JointView& view, Role role) {
  std::vector<NodeId> found;
  for (const NodeId id : view.order)
    if (view.role_of(id) == role) found.push_back(id);
  return found;
}

/// Copies the declarations that a node refers to, also from the body that it calls.
void copy_declarations(const Graph& joint, const Node& node, Graph& part);

void copy_body_declarations(const Graph& joint, const Graph& body, Graph& part) {
  for (const NodeId id : body.order()) copy_declarations(joint, body[id], part);
  for (const auto& [name, inner] : body.subgraphs)
    if (inner) copy_body_declarations(joint, *inner, part);
}

void copy_declarations(const Graph& joint, const Node& node, Graph& part) {
  const auto declare = [&](const std::string& target) {
    if (const auto op = joint.ops.find(target); op != joint.ops.end()) part.ops.insert(*op);
  };
  declare(node.target);
  const auto declare_operator = [&](const graph::Argument& argument) {
    if (const auto* op = argument.as<graph::OperatorArg>()) declare(op->name);
  };
  for (const graph::Argument& argument : node.args) declare_operator(argument);
  for (const auto& [key, argument] : node.kwargs) declare_operator(argument);
}

void copy_context(const JointView& view, const Selection& selection, Graph& part) {
  const Graph& joint = *view.graph;
  part.producer = joint.producer;
  part.symbols = joint.symbols;
  for (const NodeId id : selection.nodes) {
    const Node& node = view.node(id);
    copy_declarations(joint, node, part);
    if (node.kind != graph::NodeKind::kGetAttr) continue;
    if (const auto sub = joint.subgraphs.find(node.target); sub != joint.subgraphs.end()) {
      part.subgraphs.insert(*sub);
      if (sub->second) copy_body_declarations(joint, *sub->second, part);
    }
    if (const auto attr = joint.attributes.find(node.target); attr != joint.attributes.end())
      part.attributes.insert(*attr);
  }
}

class PartBuilder {
 public:
  PartBuilder(const JointView& view, const Selection& selection)
      : view_(view), selection_(selection), map_(view.role.size(), kNoNode) {}

  Graph build(const std::string& name, bool is_backward) {
    Graph part;
    part.name = name;
    part.reserve(selection_.inputs.size() + selection_.nodes.size() + 1);
    copy_context(view_, selection_, part);
    for (const NodeId id : selection_.inputs) add_input(part, id, is_backward);
    for (const NodeId id : selection_.nodes)
      if (map_[static_cast<size_t>(id)] == kNoNode) add_copy(part, id, is_backward);
    std::vector<NodeId> outputs;
    for (const NodeId id : selection_.outputs)
      outputs.push_back(id == kNoNode ? kNoNode : map_[static_cast<size_t>(id)]);
    part.output(outputs);
    return part;
  }

 private:
  /// A tuple among the inputs is taken apart where it comes in.
  void add_input(Graph& part, NodeId id, bool is_backward) {
    const NodeId added = part.placeholder(view_.node(id).name, view_.node(id).val);
    part.set_meta(added, view_.node(id).meta);
    map_[static_cast<size_t>(id)] = added;
    if (view_.node(id).tensor()) return;
    for (const NodeId item : selection_.nodes) {
      if (!view_.is_getitem(item)) break;
      if (view_.inputs_of(item).front() == id) add_copy(part, item, is_backward);
    }
  }

  void add_copy(Graph& part, NodeId id, bool is_backward) {
    Node copy = view_.node(id);
    copy.users.clear();
    remap_nodes(copy, [&](NodeId old) { return map_[static_cast<size_t>(old)]; });
    if (is_backward && !copy.meta->autograd_backward) copy.meta.edit().autograd_backward = true;
    map_[static_cast<size_t>(id)] = part.add(std::move(copy));
  }

  const JointView& view_;
  const Selection& selection_;
  std::vector<NodeId> map_;
};

Selection forward_part(const JointView& view, const SavedSets& sets) {
  std::vector<NodeId> inputs = with_role(view, Role::kPrimal);
  append(inputs, with_role(view, Role::kForwardSeed));
  std::vector<NodeId> outputs = view.forward_outputs;
  for (const auto* part : {&sets.tensors, &sets.objects, &sets.symbols}) append(outputs, *part);
  return select_nodes(view, inputs, outputs, Side::kForward);
}

}  // namespace

SavedSets saved_sets(const Plan& plan) {
  return {nodes_of(plan.saved), nodes_of(plan.saved_objects), nodes_of(plan.saved_symbols)};
}

Parts select_parts(const JointView& view, const SavedSets& sets, Method method) {
  Parts parts;
  parts.forward = forward_part(view, sets);
  parts.backward = select_nodes(view, backward_inputs(view, sets), view.backward_outputs, Side::kBackward);
  if (method == Method::kDefault) {
    drop_dead_collectives(view, parts.forward);
    drop_dead_collectives(view, parts.backward);
  }
  if (method == Method::kMinCut || has_recompute_marks(*view.graph)) order_like_autograd(view, parts.backward);
  raise_getitems(view, parts.forward);
  raise_getitems(view, parts.backward);
  return parts;
}

ForwardBackward extract(const Graph& joint, const Plan& plan) {
  JointView view = view_joint(joint, true);
  apply_tag_rules(view, plan.method == Method::kDefault);
  const Parts selected = select_parts(view, saved_sets(plan), plan.method);
  ForwardBackward parts;
  parts.forward = PartBuilder(view, selected.forward).build(joint.name + ".forward", false);
  parts.forward.num_forward_outputs = joint.num_forward_outputs;
  parts.forward.static_lifetime_inputs = joint.static_lifetime_inputs;
  parts.backward = PartBuilder(view, selected.backward).build(joint.name + ".backward", true);
  if (has_recompute_marks(joint)) replay_random_states(view, plan.saved_symbols.size(), plan.graphsafe_rng, parts);
  if (plan.quantization.enabled) parts.quantized = quantize_saved(parts, facts_of(parts), plan.quantization);
  if (plan.offload.enabled) parts.offloaded = offload_saved(parts, facts_of(parts), plan.offload);
  thread_generators_through_subgraphs(parts.forward, false);
  thread_generators_through_subgraphs(parts.backward, true);
  return parts;
}

}  // namespace sapwood::partition
