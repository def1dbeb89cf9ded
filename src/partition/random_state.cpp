#include "partition/random_state.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

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
constexpr std::string_view kGraphsafe = "graphsafe_run_with_rng_state";
/// Size of the state of PyTorch's CPU generator, in bytes.
constexpr int64_t kStateBytes = 5056;

/// In memory of its own. O(nodes): only checkpointed random operators have a state.
graph::TensorMeta state_meta(const Graph& graph) {
  graph::TensorMeta meta;
  meta.storage = 0;
  for (const NodeId id : graph.order())
    if (const graph::TensorMeta* tensor = graph[id].tensor(); tensor && tensor->storage)
      meta.storage = std::max(*meta.storage, *tensor->storage + 1);
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

/// Names items as FX does. "getitem" goes first if the forward couldn't compute a node of that name, whether it was
/// kept or not; numbers go on from the last such node's, not from the largest.
class ItemNames {
 public:
  explicit ItemNames(const JointView& view) {
    const Classification classes = classify(view);
    for (const NodeId id : view.order) {
      const int64_t number = classes.in_closure(id) ? -1 : getitem_number(view.node(id).name);
      if (number < 0) continue;
      taken_.insert(number);
      if (number > 0) last_ = number;
    }
  }

  std::string next() {
    if (taken_.insert(0).second) return "getitem";
    while (!taken_.insert(++last_).second) continue;
    return "getitem_" + std::to_string(last_);
  }

 private:
  std::set<int64_t> taken_;
  int64_t last_ = 0;
};

NodeId add_item(Graph& graph, NodeId tuple, int64_t index, std::string_view name, graph::Shared<graph::Value> value) {
  return graph.call("operator.getitem", {Argument::node(tuple), Argument(index)}, std::move(value), name);
}

NodeId add_last_placeholder(Graph& part, const std::string& name, graph::Shared<graph::Value> value) {
  const std::vector<NodeId> inputs = part.placeholders();
  part.set_insertion_point(inputs.empty() ? part.first() : part[inputs.back()].next);
  const NodeId added = part.placeholder(part.unique_name(name), std::move(value));
  part.set_insertion_point(kNoNode);
  return added;
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
NodeId save_state(Graph& forward, NodeId id, ItemNames& names) {
  const Node node = forward[id];
  forward.set_insertion_point(id);
  const NodeId wrapped = add_wrapped(forward, node, kSave, {});
  const NodeId state = add_item(forward, wrapped, 0, names.next(), graph::Value(state_meta(forward)));
  const NodeId result = add_item(forward, wrapped, 1, names.next(), node.val);
  forward.set_meta(result, node.meta);
  forward.replace_all_uses(id, result);
  forward.erase(id);
  return state;
}

void replay_state(Graph& backward, NodeId id, int64_t number, NodeId first_tangent) {
  const Node node = backward[id];
  backward.set_insertion_point(first_tangent);
  const NodeId state =
      backward.placeholder("rng_state_output_" + std::to_string(number), graph::Value(state_meta(backward)));
  backward.set_insertion_point(id);
  const NodeId wrapped = add_wrapped(backward, node, kReplay, {Argument::node(state)});
  backward.set_val(wrapped, node.val);
  backward.set_meta(wrapped, node.meta);
  backward.replace_all_uses(id, wrapped);
  backward.erase(id);
}

NodeId first_tangent(const Graph& backward) {
  for (const NodeId id : backward.placeholders())
    if (backward[id].name.find("tangent") != std::string::npos) return id;
  return kNoNode;
}

/// The device whose generator the operator draws from: the first of its results' that has graph-safe generators, or
/// none.
std::optional<graph::Device> graphsafe_device(const Node& node) {
  const auto of = [](const graph::Value& value) -> std::optional<graph::Device> {
    const auto* tensor = value.as<graph::TensorMeta>();
    return tensor && has_graphsafe_generators(tensor->device) ? std::optional(tensor->device) : std::nullopt;
  };
  if (!node.val) return std::nullopt;
  const auto* tuple = node.val->as<graph::TupleValue>();
  if (!tuple) return of(*node.val);
  for (const graph::Value& item : tuple->items)
    if (const auto device = of(item)) return device;
  return std::nullopt;
}

/// A random operator that runs in both parts.
struct Replayed {
  NodeId forward;
  NodeId backward;
  std::optional<graph::Device> device;
};

std::vector<Replayed> replayed_operators(const JointView& view, const ForwardBackward& parts) {
  std::vector<Replayed> found;
  for (const NodeId id : view.order) {
    if (!view.is_call(id) || !view.must_recompute(id) || !view.info(id).draws) continue;
    const NodeId forward = parts.forward.find(view.node(id).name);
    const NodeId backward = parts.backward.find(view.node(id).name);
    // An operator whose numbers no gradient needs is in one part only.
    if (forward == kNoNode || backward == kNoNode || parts.forward[forward].kind != graph::NodeKind::kCallFunction ||
        parts.backward[backward].kind != graph::NodeKind::kCallFunction)
      continue;
    found.push_back({forward, backward, graphsafe_device(view.node(id))});
  }
  return found;
}

/// Adds a generator behind the last placeholder, and runs the operator with it.
void run_with_generator(Graph& part, NodeId id, const std::string& name, const graph::Device& device) {
  const Node node = part[id];
  const NodeId generator =
      add_last_placeholder(part, name, graph::Value(graph::OpaqueValue{"Generator(device=" + device.str() + ")"}));
  part.set_insertion_point(id);
  const NodeId wrapped = add_wrapped(part, node, kGraphsafe, {});
  auto kwargs = node.kwargs;
  kwargs.emplace_back("rng_state", Argument::node(generator));
  part.set_kwargs(wrapped, std::move(kwargs));
  part.set_val(wrapped, node.val);
  part.set_meta(wrapped, node.meta);
  part.replace_all_uses(id, wrapped);
  part.erase(id);
  part.set_insertion_point(kNoNode);
}

bool one_device(const std::vector<Replayed>& operators) {
  std::set<std::string> devices;
  for (const Replayed& one : operators)
    if (one.device) devices.insert(one.device->str());
  return devices.size() == 1;
}

void return_states(Graph& forward, const std::vector<NodeId>& states, size_t saved_symbols) {
  if (states.empty()) return;
  std::vector<NodeId> outputs = forward.output_values();
  outputs.insert(outputs.end() - static_cast<std::ptrdiff_t>(saved_symbols), states.begin(), states.end());
  forward.erase(forward.output());
  forward.output(outputs);
}

}  // namespace

bool has_graphsafe_generators(const graph::Device& device) { return device.type == "cuda" || device.type == "npu"; }

void replay_random_states(const JointView& view, size_t saved_symbols, bool graphsafe, ForwardBackward& parts) {
  const std::vector<Replayed> operators = replayed_operators(view, parts);
  const bool share = graphsafe && one_device(operators);
  ItemNames names(view);
  std::vector<NodeId> states;
  const NodeId tangent = first_tangent(parts.backward);
  for (size_t i = 0; i < operators.size(); ++i) {
    const Replayed& one = operators[i];
    if (share && one.device) {
      run_with_generator(parts.forward, one.forward, "fwd_rng_state_" + std::to_string(i), *one.device);
      run_with_generator(parts.backward, one.backward, "bwd_rng_state_" + std::to_string(i), *one.device);
      continue;
    }
    replay_state(parts.backward, one.backward, static_cast<int64_t>(states.size()), tangent);
    states.push_back(save_state(parts.forward, one.forward, names));
  }
  parts.forward.set_insertion_point(kNoNode);
  parts.backward.set_insertion_point(kNoNode);
  return_states(parts.forward, states, saved_symbols);
}

void thread_generators_through_subgraphs(Graph& part, bool is_backward) {
  const std::string wanted = is_backward ? "bwd_rng_state" : "fwd_rng_state";
  int64_t count = 0;
  for (const NodeId id : part.order()) {
    if (!part[id].is_call("higher_order.invoke_subgraph") || part[id].args.empty()) continue;
    const auto* body = part[id].args[0].as<graph::NodeArg>();
    const auto found = body ? part.subgraphs.find(part[body->id].target) : part.subgraphs.end();
    if (found == part.subgraphs.end() || !found->second) continue;
    graph::ArgumentList args = part[id].args;
    for (const NodeId input : found->second->placeholders()) {
      const Node& asked = (*found->second)[input];
      if (asked.name.find(wanted) == std::string::npos) continue;
      args.push_back(Argument::node(add_last_placeholder(part, wanted + "_" + std::to_string(count++), asked.val)));
    }
    if (args.size() != part[id].args.size()) part.set_args(id, std::move(args));
  }
}

}  // namespace sapwood::partition
