// What a partitioner may insert: replayed random operators, transfers to another device, quantisation.

#include <algorithm>

#include "check/part_reader.h"

namespace sapwood::check {
namespace {

using graph::kNoNode;
using graph::Node;
using graph::NodeId;

template <typename T>
const T* argument(const Node& node, size_t index) {
  return node.args.size() > index ? node.args[index].as<T>() : nullptr;
}

const graph::TensorMeta* tensor_of(const PairContext& context, ValueId value) {
  return context.facts.node(context.table.node_of(value)).tensor();
}

}  // namespace

/// `operator_at`: where among the arguments the operator is.
void PartReader::read_random(NodeId id, RunKind kind, size_t operator_at) {
  const Node& node = part_[id];
  const auto* op = argument<graph::OperatorArg>(node, operator_at);
  CallForm form = form_of(node);
  if (op) {
    form.target = op->name;
    form.args = form.args.subspan(operator_at + 1);
    if (kind == RunKind::kOwnGenerator) form.left_out = "rng_state";
  }
  if (kind == RunKind::kReplayed && op && read_replay(id, form)) return;
  const std::string call = op ? key_of(form) : std::string();
  const std::vector<NodeId>* occurrences = op ? context_.table.occurrences(call) : nullptr;
  // An operator that could draw but doesn't (dropout of probability zero) needs no state.
  const bool is_pure = op && !occurrences && identify_pure(id, form, call);
  if (!is_pure && !occurrences && identify(id, form_of(node))) return;
  if (!is_pure && (!occurrences || kind == RunKind::kReplayed)) {
    context_.findings.add(kRandomOnce, place(id),
                          "'" + node.name +
                              "' draws numbers that the joint graph doesn't draw, or from the state of "
                              "another operator.",
                          "Replay each random operator from the state that its own first run saved.");
    return recover(id);
  }
  if (!is_pure) {
    Run run;
    run.kind = kind;
    run.generator = generator_of(node);
    accept_run(id, choose(*occurrences, call, id), form, run);
  }
  if (kind == RunKind::kStateSaved) bind(id, context_.derive({DerivedKind::kRandomTuple, value_of(id), 0}));
}

/// The number of the generator that a call draws from, -1 without one.
int64_t PartReader::generator_of(const Node& node) const {
  for (const auto& [name, value] : node.kwargs) {
    const auto* state = name == "rng_state" ? value.as<graph::NodeArg>() : nullptr;
    const Derived* generator = state ? context_.derived(value_of(state->id)) : nullptr;
    if (generator && generator->kind == DerivedKind::kGenerator) return generator->number;
  }
  return -1;
}

/// The state says which draw is meant.
bool PartReader::read_replay(NodeId id, const CallForm& form) {
  const auto* state = argument<graph::NodeArg>(part_[id], 0);
  const Derived* source = state ? context_.derived(value_of(state->id)) : nullptr;
  if (!source || source->kind != DerivedKind::kRandomState) return false;
  const NodeId joint = context_.table.node_of(source->of);
  const std::vector<NodeId>* occurrences = context_.table.occurrences(key_of(form));
  if (!occurrences || !context_.facts.contains(*occurrences, joint)) return false;
  Run run;
  run.kind = RunKind::kReplayed;
  accept_run(id, joint, form, run);
  return true;
}

bool PartReader::read_marked(NodeId id) {
  const auto found = marks_.find(id);
  if (found == marks_.end()) return false;
  const QuantisationMark& mark = found->second;
  if (mark.kind == DerivedKind::kInside) {
    const auto reads_inside = [&](NodeId read) { return context_.derived(value_of(read)) != nullptr; };
    const std::vector<NodeId> read = mentions(part_[id]);
    if (std::ranges::none_of(read, reads_inside) && context_.table.find(key_of(form_of(part_[id])), "") != kNoValue)
      return false;
    bind(id, context_.derive({DerivedKind::kInside, value_of(mark.base), 0}));
    return true;
  }
  bind(id, context_.derive({mark.kind, value_of(mark.base), mark.position}));
  const std::string suffix = "_pos_" + std::to_string(mark.position) + "_";
  const std::string& name = part_[id].name;
  const NodeId named = context_.facts.graph.find(name.substr(name.find(suffix) + suffix.size()));
  if (named == kNoNode || context_.table.value_of(named) != value_of(mark.base)) {
    context_.findings.add(kInsertionPaired, place(id),
                          "'" + name + "' is made from " + context_.name_of(value_of(mark.base)) +
                              ", not from the value that its name says.",
                          "Name quantised values after what they are made from.");
  }
  return true;
}

/// A call that reads something that the joint graph doesn't have.
bool PartReader::read_derived(NodeId id) {
  const Node& node = part_[id];
  const auto* first = argument<graph::NodeArg>(node, 0);
  const Derived* found = first ? context_.derived(value_of(first->id)) : nullptr;
  if (!found) return false;
  const Derived source = *found;
  if (source.kind == DerivedKind::kRandomTuple && node.is_call("operator.getitem")) {
    const auto* index = argument<int64_t>(node, 1);
    if (index && *index == 0) bind(id, context_.derive({DerivedKind::kRandomState, source.of, 0}));
    if (index && *index == 1) {
      bind(id, source.of);
      cells_[JointFacts::at(id)] = cells_[JointFacts::at(first->id)];
    }
    return index && (*index == 0 || *index == 1);
  }
  if (read_reload(id, source)) return true;
  const bool converts = node.is_call(kConvert);
  const auto* type = converts ? argument<graph::DType>(node, 1) : nullptr;
  const graph::TensorMeta* wanted =
      source.of == kNoValue || !context_.table.is_joint(source.of) ? nullptr : tensor_of(context_, source.of);
  const bool right_type = type && wanted && *type == wanted->dtype;
  if ((source.kind == DerivedKind::kQuantised || source.kind == DerivedKind::kUnscaled) && right_type) {
    bind(id, source.of);
    return true;
  }
  if (source.kind == DerivedKind::kScaled && converts) {
    bind(id, context_.derive({DerivedKind::kRaised, source.of, source.number}));
    return true;
  }
  const auto* by = node.is_call("aten.div.Tensor") ? argument<graph::NodeArg>(node, 1) : nullptr;
  const Derived* scale = by ? context_.derived(value_of(by->id)) : nullptr;
  const bool own_scale = source.kind == DerivedKind::kRaised && scale && scale->kind == DerivedKind::kScale &&
                         scale->of == source.of && scale->number == source.number;
  if (!own_scale) return false;
  bind(id, context_.derive({DerivedKind::kUnscaled, source.of, source.number}));
  return true;
}

/// A copy, named `<value>_snapshot`, of memory that is written later: the value as it is now, in memory of its own.
bool PartReader::read_snapshot(NodeId id) {
  const Node& node = part_[id];
  const auto* source = node.is_call("aten.clone.default") ? argument<graph::NodeArg>(node, 0) : nullptr;
  if (!source || context_.facts.graph.find(node.name) != kNoNode) return false;
  if (node.name != part_[source->id].name + "_snapshot") return false;
  bind(id, value_of(source->id));
  for (const int32_t cell : cells_[JointFacts::at(source->id)])
    cells_[JointFacts::at(id)].push_back(new_cell({memory_[static_cast<size_t>(cell)].writer, true}));
  return true;
}

/// A step of the way from the device to the host, or back.
bool PartReader::read_reload(NodeId id, const Derived& source) {
  const Node& node = part_[id];
  if (source.kind == DerivedKind::kHostPending && node.is_call(kWaitTransfer)) {
    bind(id, context_.derive({DerivedKind::kHost, source.of, source.number}));
    return true;
  }
  if (source.kind == DerivedKind::kHost && (node.is_call(kReload) || node.is_call(kDevicePut))) {
    const auto* device = argument<graph::Device>(node, 1);
    const graph::TensorMeta* original = tensor_of(context_, source.of);
    if (!device || !original || *device != original->device) return false;
    if (node.is_call(kReload)) {
      bind(id, context_.derive({DerivedKind::kDevicePending, source.of, source.number}));
      return true;
    }
  } else if (source.kind != DerivedKind::kDevicePending || !node.is_call(kWaitTransfer)) {
    return false;
  }
  bind(id, source.of);
  for (const NodeId writer : context_.memory_states[static_cast<size_t>(source.number)])
    cells_[JointFacts::at(id)].push_back(new_cell({writer, true}));
  return true;
}

bool PartReader::start_offload(NodeId id) {
  const Node& node = part_[id];
  const auto* source = argument<graph::NodeArg>(node, 0);
  const bool is_async = node.is_call(kOffload);
  const bool is_put = node.is_call(kDevicePut) && is_offload_name(node.name);
  if (!source || (!is_async && !is_put) || !context_.table.is_joint(value_of(source->id))) return false;
  if (!context_.options.allow_offload) {
    context_.findings.add(kInsertionPaired, place(id),
                          "'" + node.name + "' offloads a value, which the options don't allow.",
                          "Keep the value on its device.");
  }
  std::vector<NodeId> state;
  for (const int32_t cell : cells_[JointFacts::at(source->id)])
    state.push_back(memory_[static_cast<size_t>(cell)].writer);
  context_.memory_states.push_back(std::move(state));
  const auto number = static_cast<int64_t>(context_.memory_states.size()) - 1;
  bind(id, context_.derive({is_async ? DerivedKind::kHostPending : DerivedKind::kHost, value_of(source->id), number}));
  return true;
}

}  // namespace sapwood::check
