#include "partition/joint_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "graph/sym_node.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::PartitionerTag;

/// Stands for a size that nothing is known of, as in PyTorch.
constexpr int64_t kUnknownSize = 4096;

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

Role placeholder_role(const std::string& target) {
  if (mentions(target, "tangents")) return Role::kTangent;
  if (mentions(target, "bwd_seed") || mentions(target, "bwd_base_offset")) return Role::kBackwardSeed;
  if (mentions(target, "fwd_seed") || mentions(target, "fwd_base_offset")) return Role::kForwardSeed;
  return Role::kPrimal;
}

Role role_of_node(const Node& node) {
  switch (node.kind) {
    case NodeKind::kPlaceholder:
      return placeholder_role(node.target);
    case NodeKind::kGetAttr:
      return Role::kAttribute;
    case NodeKind::kCallFunction:
      return Role::kCall;
    case NodeKind::kOutput:
      return Role::kOutput;
  }
  return Role::kAbsent;
}

const ops::OpInfo* lookup(JointView& view, const Node& node) {
  static const ops::OpInfo nothing;
  if (node.kind != NodeKind::kCallFunction) return &nothing;
  if (const ops::OpInfo* known = ops::find_op(node.target)) return known;
  view.unknown_ops.push_back(ops::describe(*view.graph, node));
  return &view.unknown_ops.back();
}

void resize_tables(JointView& view, size_t bound) {
  view.position.assign(bound, -1);
  view.role.assign(bound, Role::kAbsent);
  view.users = NodeLists(bound);
  view.inputs = NodeLists(bound);
  view.op.resize(bound);
  view.policy.assign(bound, CheckpointPolicy::kNone);
  view.value_bytes.assign(bound, 0);
  view.storages.assign(bound, -1);
  view.in_backward.assign(bound, 0);
  view.in_forward.assign(bound, 0);
  view.is_static.assign(bound, 0);
}

/// Fills the tables for the nodes of `view.order`.
void fill_tables(JointView& view) {
  for (size_t i = 0; i < view.order.size(); ++i) {
    const NodeId id = view.order[i];
    const auto at = static_cast<size_t>(id);
    view.position[at] = static_cast<int32_t>(i);
    view.role[at] = role_of_node(view.node(id));
    view.op[at] = lookup(view, view.node(id));
    view.policy[at] = view.node(id).meta->recompute;
  }
  view.users.reserve(2 * view.order.size());
  view.inputs.reserve(2 * view.order.size());
  std::vector<NodeId> read_by(view.role.size(), kNoNode);  // the last reader, so that none is listed twice
  for (const NodeId id : view.order) {
    view.inputs.begin(id);
    const auto add_input = [&](NodeId read) {
      if (std::exchange(read_by[static_cast<size_t>(read)], id) != id) view.inputs.add(read);
    };
    for (const graph::Argument& argument : view.node(id).args) graph::for_each_node(argument, add_input);
    for (const auto& [key, argument] : view.node(id).kwargs) graph::for_each_node(argument, add_input);
    view.users.begin(id);
    for (const NodeId user : view.node(id).users)
      if (view.position[static_cast<size_t>(user)] >= 0) view.users.add(user);
  }
}

/// Also for nodes that take no part.
void measure_values(JointView& view) {
  for (NodeId id = view.graph->first(); id != kNoNode; id = view.node(id).next) {
    const auto at = static_cast<size_t>(id);
    const Node& node = view.node(id);
    if (!node.val) continue;
    const graph::TensorMeta* tensor = node.tensor();
    if (tensor) view.storages[at] = tensor->storage.value_or(-1);
    view.value_bytes[at] = !tensor && view.is_symbol(id) ? 1 : value_bytes(*node.val, view.graph->symbols);
  }
}

void place_by_tag(JointView& view, NodeId id) {
  const auto at = static_cast<size_t>(id);
  const PartitionerTag tag = view.node(id).meta->partitioner_tag;
  const bool is_mutable = view.op[at]->is_mutable;
  const bool must_backward = tag == PartitionerTag::kMustBeInBackward;
  const bool backward = tag == PartitionerTag::kBackward;
  view.in_backward[at] = must_backward || (backward && is_mutable);
  view.in_forward[at] = tag == PartitionerTag::kMustBeInForward || (!backward && !must_backward && is_mutable);
}

int64_t tensor_bytes(const graph::TensorMeta& tensor, const graph::SymbolTable& symbols) {
  std::optional<int64_t> elements = 1;
  for (const graph::SymExpr& size : tensor.shape) {
    const auto length = size.is_const() ? std::optional(size.value()) : size.hint_or(symbols, kUnknownSize);
    elements = elements && length ? graph::checked_mul(*elements, *length) : std::nullopt;
  }
  return elements.value_or(kUnknownSize) * graph::dtype_bytes(tensor.dtype);
}

int64_t element_bytes(const graph::Value& value, const graph::SymbolTable& symbols) {
  const auto* tensor = value.as<graph::TensorMeta>();
  return tensor ? tensor_bytes(*tensor, symbols) : 0;
}

/// Names of the arguments that an operator overwrites; empty if nothing is known of it.
std::vector<std::string> overwritten_arguments(const Graph& graph, const std::string& op_name) {
  const ops::OpInfo* known = ops::find_op(op_name);
  std::shared_ptr<const ops::Schema> schema = known ? known->schema : nullptr;
  const auto declared = graph.ops.find(op_name);
  if (!schema && declared != graph.ops.end())
    schema = std::make_shared<const ops::Schema>(ops::parse_schema(declared->second.schema));
  std::vector<std::string> names;
  if (!schema) return names;
  for (const ops::SchemaValue& argument : schema->arguments)
    if (argument.alias && argument.alias->is_write) names.push_back(argument.name);
  return names;
}

bool reads(const graph::Argument& argument, NodeId id) {
  bool found = false;
  graph::for_each_node(argument, [&](NodeId read) { found = found || read == id; });
  return found;
}

const graph::Argument* find_kwarg(const std::vector<std::pair<std::string, graph::Argument>>& kwargs,
                                  std::string_view name) {
  const auto found = std::ranges::find(kwargs, name, [](const auto& entry) -> std::string_view { return entry.first; });
  return found == kwargs.end() ? nullptr : &found->second;
}

constexpr std::string_view kTritonKernel = "higher_order.triton_kernel_wrapper_functional";

/// The user reads `id` through an argument that it clones and overwrites, so that the clone can be fused.
bool fuses_into_mutation(const JointView& view, NodeId id, NodeId user) {
  const Node& reader = view.node(user);
  if (reader.target == "higher_order.auto_functionalized" && !reader.args.empty()) {
    const auto* op = reader.args.front().as<graph::OperatorArg>();
    if (!op) return false;
    return std::ranges::any_of(overwritten_arguments(*view.graph, op->name), [&](const std::string& name) {
      const graph::Argument* argument = find_kwarg(reader.kwargs, name);
      return argument && reads(*argument, id);
    });
  }
  if (reader.target != kTritonKernel) return false;
  const graph::Argument* cloned = find_kwarg(reader.kwargs, "tensors_to_clone");
  const graph::Argument* arguments = find_kwarg(reader.kwargs, "kwargs");
  if (!cloned || !arguments || !cloned->as<graph::ListArg>() || !arguments->as<graph::DictArg>()) return false;
  return std::ranges::any_of(cloned->as<graph::ListArg>()->items, [&](const graph::Argument& name) {
    const auto* text = name.as<std::string>();
    const graph::Argument* argument = text ? find_kwarg(arguments->as<graph::DictArg>()->items, *text) : nullptr;
    return argument && reads(*argument, id);
  });
}

/// The result of a user's kernel: nothing can be fused onto it.
bool is_kernel_result(const JointView& view, NodeId id) {
  return view.is_getitem(id) && !view.inputs_of(id).empty() &&
         view.node(view.inputs_of(id).front()).target == kTritonKernel;
}

}  // namespace

int64_t value_bytes(const graph::Value& value, const graph::SymbolTable& symbols) {
  if (const auto* tensor = value.as<graph::TensorMeta>()) return tensor_bytes(*tensor, symbols);
  int64_t sum = 0;
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) sum += element_bytes(item, symbols);
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) sum += element_bytes(item, symbols);
  if (const auto* dict = value.as<graph::DictValue>())
    for (const auto& [key, item] : dict->items) sum += element_bytes(item, symbols);
  return sum;
}

bool JointView::is_symbol(NodeId id) const {
  const auto& val = node(id).val;
  return val && (val->as<graph::SymIntValue>() || val->as<graph::SymFloatValue>() || val->as<graph::SymBoolValue>());
}

bool JointView::is_opaque(NodeId id) const {
  const auto& val = node(id).val;
  return val && val->as<graph::OpaqueValue>();
}

bool JointView::is_backward_state(NodeId id) const {
  const auto& val = node(id).val;
  const auto* object = val && role_of(id) == Role::kPrimal ? val->as<graph::OpaqueValue>() : nullptr;
  return object && mentions(object->repr, "BackwardState");
}

bool JointView::must_recompute(NodeId id) const {
  const CheckpointPolicy p = policy[static_cast<size_t>(id)];
  return p == CheckpointPolicy::kMustRecompute || p == CheckpointPolicy::kPreferRecompute;
}

bool JointView::must_save(NodeId id) const { return policy[static_cast<size_t>(id)] == CheckpointPolicy::kMustSave; }

bool JointView::is_backward_tagged(NodeId id) const {
  return node(id).meta->partitioner_tag == PartitionerTag::kBackward;
}

bool JointView::is_impure(NodeId id) const {
  const Node& n = node(id);
  return n.meta->impure ||
         (n.kind == NodeKind::kCallFunction && info(id).known && (info(id).effect || info(id).is_mutable));
}

bool JointView::can_fuse(NodeId id, NodeId user) const {
  if (info(user).packet == "aten.cat") return true;
  if (role_of(user) == Role::kCall && node(user).target.starts_with("higher_order.") &&
      fuses_into_mutation(*this, id, user))
    return true;
  if (is_kernel_result(*this, id)) return false;
  return info(id).is_fusible() && info(user).is_fusible();
}

std::vector<int32_t> JointView::input_storages() const {
  std::vector<int32_t> storages;
  for (const NodeId id : order) {
    const bool lives = is_input(id) || role_of(id) == Role::kAttribute;
    if (lives && storage(id) >= 0) storages.push_back(storage(id));
  }
  std::ranges::sort(storages);
  return storages;
}

bool JointView::reads_overwritten(NodeId id) const {
  if (overwritten.empty() || !is_call(id) || is_view(id) || is_getitem(id)) return false;
  return std::ranges::any_of(inputs_of(id),
                             [&](NodeId read) { return std::ranges::binary_search(overwritten, storage(read)); });
}

namespace {

/// Memory of the inputs that `copy_` writes in the forward.
std::vector<int32_t> overwritten_in_forward(const JointView& view) {
  std::vector<int32_t> storages;
  for (const NodeId id : view.order) {
    const graph::Node& node = view.node(id);
    if (!node.is_call("aten.copy_.default") || node.meta->partitioner_tag != PartitionerTag::kMustBeInForward) continue;
    const auto* target = node.args.empty() ? nullptr : node.args[0].as<graph::NodeArg>();
    if (target && view.is_input(target->id) && view.storage(target->id) >= 0)
      storages.push_back(view.storage(target->id));
  }
  std::ranges::sort(storages);
  return storages;
}

}  // namespace

JointView view_joint(const Graph& joint, bool users_in_graph_order) {
  JointView view;
  view.graph = &joint;
  view.order = joint.order();
  resize_tables(view, joint.id_bound());
  fill_tables(view);
  measure_values(view);
  for (const NodeId id : view.order) {
    place_by_tag(view, id);
    if (!users_in_graph_order) continue;
    std::ranges::sort(view.users.edit(id), {}, [&](NodeId user) { return view.position[static_cast<size_t>(user)]; });
  }
  const std::vector<NodeId> outputs = joint.output_values();
  const auto split = static_cast<size_t>(std::clamp<int64_t>(joint.num_forward_outputs, 0, std::ssize(outputs)));
  view.forward_outputs.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(split));
  view.backward_outputs.assign(outputs.begin() + static_cast<std::ptrdiff_t>(split), outputs.end());

  std::vector<NodeId> primals;
  for (const NodeId id : view.order)
    if (view.role_of(id) == Role::kPrimal) primals.push_back(id);
  for (const int64_t index : joint.static_lifetime_inputs)
    if (index >= 0 && index < std::ssize(primals))
      view.is_static[static_cast<size_t>(primals[static_cast<size_t>(index)])] = 1;
  view.overwritten = overwritten_in_forward(view);
  return view;
}

namespace {

/// Values that leave the forward or the backward of a step: to the user, into an input, or to the optimizer.
void collect_step_outputs(JointView& view, const graph::JointGraph& step) {
  std::vector<uint8_t> seen(step.graph.id_bound(), 0);
  const auto add = [&](NodeId id) {
    if (id == kNoNode || view.position[static_cast<size_t>(id)] < 0 || seen[static_cast<size_t>(id)]) return;
    seen[static_cast<size_t>(id)] = 1;
    (view.in_backward[static_cast<size_t>(id)] ? view.backward_outputs : view.forward_outputs).push_back(id);
  };
  for (const NodeId value : step.graph.output_values()) add(value);
  for (const NodeId id : step.graph.order()) {
    if (step.graph[id].meta->partitioner_tag != PartitionerTag::kOptimizer) continue;
    for (const NodeId read : step.graph.inputs(id)) {
      const bool computed_forward = view.position[static_cast<size_t>(read)] >= 0 && view.is_call(read) &&
                                    !view.in_backward[static_cast<size_t>(read)];
      // A forward value that the optimizer reads must still be there after the backward.
      if (computed_forward)
        view.backward_outputs.push_back(read);
      else
        add(read);
    }
  }
}

}  // namespace

JointView view_step(const graph::JointGraph& step) {
  JointView view;
  view.graph = &step.graph;
  view.whole_step = true;
  for (const NodeId id : step.graph.order()) {
    const Node& node = step.graph[id];
    if (node.meta->partitioner_tag != PartitionerTag::kOptimizer && node.kind != NodeKind::kOutput)
      view.order.push_back(id);
    if (node.kind == NodeKind::kPlaceholder && node.meta->partitioner_tag == PartitionerTag::kOptimizer)
      view.order.push_back(id);
  }
  resize_tables(view, step.graph.id_bound());
  fill_tables(view);
  measure_values(view);
  for (const NodeId id : view.order) {
    const auto at = static_cast<size_t>(id);
    const PartitionerTag tag = view.node(id).meta->partitioner_tag;
    if (view.node(id).kind == NodeKind::kPlaceholder) {
      view.role[at] = Role::kPrimal;
      view.is_static[at] = 1;
      continue;
    }
    view.in_backward[at] = tag == PartitionerTag::kBackward || tag == PartitionerTag::kMustBeInBackward;
    // An item belongs to the operator that made the tuple, whoever asked for it.
    if (view.is_getitem(id)) view.in_backward[at] = view.in_backward[static_cast<size_t>(view.inputs_of(id).front())];
    view.in_forward[at] = !view.in_backward[at] && view.is_call(id);
  }
  collect_step_outputs(view, step);
  return view;
}

}  // namespace sapwood::partition
