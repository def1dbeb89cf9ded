#include "check/joint_facts.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::PartitionerTag;

constexpr std::string_view kWaitTensor = "_c10d_functional.wait_tensor.default";

Role placeholder_role(const std::string& target) {
  if (mentions_text(target, "tangents")) return Role::kTangent;
  if (mentions_text(target, "bwd_seed") || mentions_text(target, "bwd_base_offset")) return Role::kBackwardSeed;
  if (mentions_text(target, "fwd_seed") || mentions_text(target, "fwd_base_offset")) return Role::kForwardSeed;
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
  return Role::kCall;
}

bool is_repeatable(const Node& node, const ops::OpInfo& info) {
  return info.op_class == ops::OpClass::kAssertion || node.target == kWaitTensor ||
         node.target.starts_with("profiler.") || node.target.starts_with("aten._assert") ||
         node.target.starts_with("aten.sym_constrain_range");
}

bool is_collective(const Node& node) {
  return node.target.starts_with("_c10d_functional.") || node.target.starts_with("_c10d_functional_autograd.") ||
         node.target.starts_with("c10d.");
}

bool returns_nothing(const Node& node) { return node.val && node.val->as<graph::NoneValue>(); }

Effect effect_of_call(const Node& node, const ops::OpInfo& info) {
  if (is_repeatable(node, info)) return Effect::kRepeatable;
  if (info.is_mutable || node.target == "higher_order.triton_kernel_wrapper_mutation") return Effect::kMutation;
  if (is_collective(node)) return Effect::kCollective;
  const bool has_effect = node.meta->impure || info.effect || node.target == "higher_order.with_effects";
  return has_effect || returns_nothing(node) ? Effect::kOther : Effect::kNone;
}

Home home_of(const Node& node, Effect effect) {
  const PartitionerTag tag = node.meta->partitioner_tag;
  if (tag == PartitionerTag::kMustBeInForward) return Home::kForward;
  if (tag == PartitionerTag::kMustBeInBackward) return Home::kBackward;
  if (effect != Effect::kMutation) return Home::kAny;
  return tag == PartitionerTag::kBackward ? Home::kBackward : Home::kForward;
}

void add_once(std::vector<int32_t>& list, int32_t item) {
  if (item >= 0 && std::ranges::find(list, item) == list.end()) list.push_back(item);
}

void append_argument_storages(const Graph& graph, const graph::Argument& argument, std::vector<int32_t>& found) {
  graph::for_each_node(argument, [&](NodeId read) {
    if (graph[read].val) append_storages(*graph[read].val, found);
  });
}

/// Memory that a call writes to, by its schema; all that it reads if nothing more is known.
std::vector<int32_t> written_storages(const Graph& graph, const Node& node, const ops::OpInfo& info) {
  std::vector<int32_t> found;
  if (!info.schema) {
    for (const graph::Argument& argument : node.args) append_argument_storages(graph, argument, found);
    for (const auto& [name, argument] : node.kwargs) append_argument_storages(graph, argument, found);
    return found;
  }
  for (size_t i = 0; i < info.schema->arguments.size(); ++i) {
    const ops::SchemaValue& declared = info.schema->arguments[i];
    if (!declared.alias || !declared.alias->is_write) continue;
    if (i < node.args.size()) append_argument_storages(graph, node.args[i], found);
    for (const auto& [name, argument] : node.kwargs)
      if (name == declared.name) append_argument_storages(graph, argument, found);
  }
  return found;
}

}  // namespace

bool mentions_text(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::vector<NodeId> mentions(const Node& node) {
  std::vector<NodeId> found;
  for (const graph::Argument& argument : node.args)
    graph::for_each_node(argument, [&](NodeId read) { found.push_back(read); });
  for (const auto& [name, argument] : node.kwargs)
    graph::for_each_node(argument, [&](NodeId read) { found.push_back(read); });
  return found;
}

void append_storages(const graph::Value& value, std::vector<int32_t>& storages) {
  if (const auto* tensor = value.as<graph::TensorMeta>()) storages.push_back(tensor->storage.value_or(-1));
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) append_storages(item, storages);
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) append_storages(item, storages);
  if (const auto* dict = value.as<graph::DictValue>())
    for (const auto& [key, item] : dict->items) append_storages(item, storages);
}

JointFacts::JointFacts(const Graph& joint) : graph(joint), order(joint.order()) {
  const size_t bound = joint.id_bound();
  position.assign(bound, -1);
  role.assign(bound, Role::kCall);
  op.assign(bound, nullptr);
  draws.assign(bound, 0);
  effect.assign(bound, Effect::kNone);
  home.assign(bound, Home::kAny);
  closure.assign(bound, 0);
  live.assign(bound, 0);
  storages.resize(bound);
  writes.resize(bound);
  reads.resize(bound);
  makes_memory.assign(bound, 0);
  classify_calls();
  find_written_memory();
  follow_memory();
  find_closure();
  find_live();
}

bool JointFacts::has_identity(NodeId id) const {
  if (!is_call(id)) return false;
  const bool acts = effect_of(id) != Effect::kNone && effect_of(id) != Effect::kRepeatable;
  return draws[at(id)] || acts || makes_memory[at(id)];
}

bool JointFacts::is_marked_recompute(NodeId id) const {
  const graph::CheckpointPolicy policy = node(id).meta->recompute;
  return policy == graph::CheckpointPolicy::kMustRecompute || policy == graph::CheckpointPolicy::kPreferRecompute;
}

bool JointFacts::is_opaque_primal(NodeId id) const {
  return role_of(id) == Role::kPrimal && node(id).val && node(id).val->as<graph::OpaqueValue>();
}

std::vector<NodeId> JointFacts::with_role(Role wanted) const {
  std::vector<NodeId> found;
  for (const NodeId id : order)
    if (role_of(id) == wanted) found.push_back(id);
  return found;
}

bool JointFacts::contains(const std::vector<NodeId>& ordered, NodeId id) const {
  const auto found =
      std::ranges::lower_bound(ordered, position[at(id)], {}, [&](NodeId other) { return position[at(other)]; });
  return found != ordered.end() && *found == id;
}

const ops::OpInfo* JointFacts::lookup(const Node& node) {
  static const ops::OpInfo nothing;
  if (node.kind != NodeKind::kCallFunction) return &nothing;
  if (const ops::OpInfo* known = ops::find_op(node.target)) return known;
  const auto [entry, is_new] = by_target_.try_emplace(node.target, nullptr);
  if (is_new) {
    owned_.push_back(ops::describe(graph, node));
    entry->second = &owned_.back();
  }
  return entry->second;
}

void JointFacts::classify_calls() {
  for (size_t i = 0; i < order.size(); ++i) {
    const NodeId id = order[i];
    position[at(id)] = static_cast<int32_t>(i);
    role[at(id)] = role_of_node(node(id));
    op[at(id)] = lookup(node(id));
    if (!is_call(id)) continue;
    draws[at(id)] = ops::draws_numbers(*op[at(id)], node(id));
    effect[at(id)] = effect_of_call(node(id), *op[at(id)]);
    home[at(id)] = home_of(node(id), effect[at(id)]);
  }
}

void JointFacts::find_written_memory() {
  std::set<int32_t> written;
  for (const NodeId id : order) {
    if (effect_of(id) != Effect::kMutation) continue;
    for (const int32_t storage : written_storages(graph, node(id), *op[at(id)])) add_once(writes[at(id)], storage);
    written.insert(writes[at(id)].begin(), writes[at(id)].end());
  }
  if (written.empty()) return;
  std::vector<int32_t> all;
  for (const NodeId id : order) {
    all.clear();
    if (node(id).val) append_storages(*node(id).val, all);
    for (const int32_t storage : all)
      if (written.contains(storage)) add_once(storages[at(id)], storage);
  }
}

/// An operator that only makes a view doesn't look into memory: it reads nothing of what its result lies in.
void JointFacts::follow_memory() {
  std::unordered_map<int32_t, NodeId> writer;
  for (const NodeId id : order) {
    if (!is_call(id)) continue;
    std::vector<int32_t> touched;
    for (const NodeId read : mentions(node(id)))
      for (const int32_t storage : storages[at(read)]) add_once(touched, storage);
    const auto& own = storages[at(id)];
    makes_memory[at(id)] =
        std::ranges::any_of(own, [&](int32_t storage) { return std::ranges::find(touched, storage) == touched.end(); });
    const bool only_address = effect_of(id) != Effect::kMutation && !own.empty() && touched == own;
    const bool takes_apart = node(id).is_call("operator.getitem");
    for (const int32_t storage : touched) {
      if (only_address || takes_apart) break;
      const auto last = writer.find(storage);
      reads[at(id)].push_back({storage, last == writer.end() ? kNoNode : last->second});
    }
    for (const int32_t storage : writes[at(id)]) writer[storage] = id;
  }
}

void JointFacts::find_closure() {
  for (const NodeId id : order) {
    const bool starts = role_of(id) == Role::kTangent || home[at(id)] == Home::kBackward;
    const auto read = is_call(id) ? mentions(node(id)) : std::vector<NodeId>();
    closure[at(id)] = starts || std::ranges::any_of(read, [&](NodeId r) { return closure[at(r)] != 0; });
  }
}

void JointFacts::find_live() {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Effect own = effect_of(*it);
    const bool keeps = own != Effect::kNone && own != Effect::kRepeatable && own != Effect::kCollective;
    if (keeps || role_of(*it) == Role::kOutput) live[at(*it)] = 1;
    if (!live[at(*it)]) continue;
    for (const NodeId read : mentions(node(*it))) live[at(read)] = 1;
  }
}

}  // namespace sapwood::check
