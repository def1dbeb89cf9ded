#include "partition/random_state.h"

#include <algorithm>
#include <charconv>

#include "partition/classify.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

constexpr std::string_view kSave = "run_and_save_rng_state";
constexpr std::string_view kReplay = "run_with_rng_state";
/// Size of the state of PyTorch's CPU generator, in bytes.
constexpr int64_t kStateBytes = 5056;

/// `storage`: a number that no other tensor of the part has.
graph::TensorMeta state_meta(int32_t storage) {
  graph::TensorMeta meta;
  meta.storage = storage;
  meta.dtype = graph::DType::kUInt8;
  meta.shape = {graph::SymExpr(kStateBytes)};
  meta.stride = std::vector<graph::SymExpr>{graph::SymExpr(1)};
  meta.offset = graph::SymExpr(0);
  meta.storage_bytes = graph::SymExpr(kStateBytes);
  return meta;
}

/// The number behind "getitem_", 0 for "getitem" itself, -1 for other names.
int64_t getitem_number(std::string_view name) {
  constexpr std::string_view kBase = "getitem";
  if (name == kBase) return 0;
  if (!name.starts_with(kBase) || name.size() < kBase.size() + 2 || name[kBase.size()] != '_') return -1;
  int64_t number = -1;
  const std::string_view digits = name.substr(kBase.size() + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
}

/// Names items as FX does: on from the last one that the forward could compute, whether it was kept or not.
class ItemNames {
 public:
  explicit ItemNames(const JointView& view) {
    const Classification classes = classify(view);
    for (const NodeId id : view.order)
      if (!classes.in_closure(id)) last_ = std::max(last_, getitem_number(view.node(id).name));
  }
  std::string next() { return ++last_ == 0 ? "getitem" : "getitem_" + std::to_string(last_); }

 private:
  int64_t last_ = -1;
};

NodeId add_item(Graph& graph, NodeId tuple, int64_t index, std::string_view name, std::optional<graph::Value> value) {
  return graph.call("operator.getitem", {Argument::node(tuple), Argument(index)}, std::move(value), name);
}

/// Calls `node` through an operator that takes it as its argument, behind `leading`.
NodeId add_wrapped(Graph& graph, const Node& node, std::string_view wrapper, graph::ArgumentList leading) {
  graph::ArgumentList args = std::move(leading);
  args.emplace_back(graph::OperatorArg{node.target});
  args.insert(args.end(), node.args.begin(), node.args.end());
  auto kwargs = node.kwargs;
  const NodeId wrapped =
      graph.call("higher_order." + std::string(wrapper), std::move(args), std::nullopt, graph.unique_name(wrapper));
  graph.set_kwargs(wrapped, std::move(kwargs));
  return wrapped;
}

/// Returns the node that holds the state.
NodeId save_state(Graph& forward, NodeId id, ItemNames& names, int32_t storage) {
  const Node node = forward[id];
  forward.set_insertion_point(id);
  const NodeId wrapped = add_wrapped(forward, node, kSave, {});
  const NodeId state = add_item(forward, wrapped, 0, names.next(), graph::Value(state_meta(storage)));
  const NodeId result = add_item(forward, wrapped, 1, names.next(), node.val);
  forward.meta(result) = node.meta;
  forward.replace_all_uses(id, result);
  forward.erase(id);
  return state;
}

void replay_state(Graph& backward, NodeId id, int64_t number, NodeId first_tangent, int32_t storage) {
  const Node node = backward[id];
  backward.set_insertion_point(first_tangent);
  const NodeId state =
      backward.placeholder("rng_state_output_" + std::to_string(number), graph::Value(state_meta(storage)));
  backward.set_insertion_point(id);
  const NodeId wrapped = add_wrapped(backward, node, kReplay, {Argument::node(state)});
  backward.set_val(wrapped, node.val);
  backward.meta(wrapped) = node.meta;
  backward.replace_all_uses(id, wrapped);
  backward.erase(id);
}

NodeId first_tangent(const Graph& backward) {
  for (const NodeId id : backward.placeholders())
    if (backward[id].name.find("tangent") != std::string::npos) return id;
  return kNoNode;
}

int32_t largest_storage(const graph::Value& value) {
  if (const auto* tensor = value.as<graph::TensorMeta>()) return tensor->storage.value_or(-1);
  int32_t largest = -1;
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) largest = std::max(largest, largest_storage(item));
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) largest = std::max(largest, largest_storage(item));
  return largest;
}

/// The first number that no storage of the joint graph has.
int32_t first_free_storage(const JointView& view) {
  int32_t largest = -1;
  for (const NodeId id : view.order)
    if (view.node(id).val) largest = std::max(largest, largest_storage(*view.node(id).val));
  return largest + 1;
}

}  // namespace

void replay_random_states(const JointView& view, size_t saved_symbols, ForwardBackward& parts) {
  ItemNames names(view);
  std::vector<NodeId> states;
  const NodeId tangent = first_tangent(parts.backward);
  const int32_t free_storage = first_free_storage(view);
  for (const NodeId id : view.order) {
    if (!view.is_call(id) || !view.must_recompute(id) || !view.info(id).draws) continue;
    const NodeId forward = parts.forward.find(view.node(id).name);
    const NodeId backward = parts.backward.find(view.node(id).name);
    if (forward == kNoNode || backward == kNoNode) continue;
    const int32_t storage = free_storage + static_cast<int32_t>(states.size());
    replay_state(parts.backward, backward, static_cast<int64_t>(states.size()), tangent, storage);
    states.push_back(save_state(parts.forward, forward, names, storage));
  }
  parts.forward.set_insertion_point(kNoNode);
  parts.backward.set_insertion_point(kNoNode);
  if (states.empty()) return;
  std::vector<NodeId> outputs = parts.forward.output_values();
  outputs.insert(outputs.end() - static_cast<std::ptrdiff_t>(saved_symbols), states.begin(), states.end());
  parts.forward.erase(parts.forward.output());
  parts.forward.output(outputs);
}

}  // namespace sapwood::partition
