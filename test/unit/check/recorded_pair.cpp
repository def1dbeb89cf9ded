#include "unit/check/recorded_pair.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "ops/op_table.h"

namespace sapwood::test {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using nlohmann::json;
using Names = std::vector<std::string>;

constexpr std::string_view kSave = "higher_order.run_and_save_rng_state";
constexpr std::string_view kReplay = "higher_order.run_with_rng_state";

/// `number`: which of the states; their storages are far from those of the corpus.
graph::TensorMeta state_meta(int32_t number) {
  graph::TensorMeta meta;
  meta.storage = 1'000'000 + number;
  meta.dtype = graph::DType::kUInt8;
  meta.shape = {graph::SymExpr(5056)};
  meta.stride = std::vector<graph::SymExpr>{graph::SymExpr(1)};
  meta.offset = graph::SymExpr(0);
  meta.storage_bytes = graph::SymExpr(5056);
  return meta;
}

void remap(Argument& argument, const std::map<NodeId, NodeId>& map) {
  const auto each = [&](graph::ArgumentList& items) {
    for (Argument& item : items) remap(item, map);
  };
  if (auto* node = argument.as<graph::NodeArg>()) node->id = map.at(node->id);
  if (auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
  if (auto* slice = argument.as<graph::SliceArg>()) each(slice->bounds);
  if (auto* dict = argument.as<graph::DictArg>())
    for (auto& [key, item] : dict->items) remap(item, map);
}

/// The random nodes that wrappers stand for, in joint order: those that a checkpoint repeats and no part names.
std::vector<NodeId> wrapped_nodes(const Graph& joint, const json& decision) {
  std::set<std::string> named;
  for (const char* part : {"forward", "backward"})
    for (const json& node : decision.at(part)) named.insert(node.at("name").get<std::string>());
  std::vector<NodeId> wrapped;
  for (const NodeId id : joint.order()) {
    const auto declared = joint.ops.find(joint[id].target);
    if (declared == joint.ops.end() || named.contains(joint[id].name)) continue;
    const auto& tags = declared->second.tags;
    const bool marked = joint[id].meta->recompute == graph::CheckpointPolicy::kMustRecompute ||
                        joint[id].meta->recompute == graph::CheckpointPolicy::kPreferRecompute;
    if (marked && std::ranges::find(tags, "nondeterministic_seeded") != tags.end()) wrapped.push_back(id);
  }
  return wrapped;
}

/// "run_with_rng_state" is number 0, "run_with_rng_state_3" number 3.
size_t wrapper_number(const std::string& name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits == name.size() ? 0 : std::stoul(name.substr(digits));
}

class PartReplay {
 public:
  PartReplay(const Graph& joint, const json& nodes, std::vector<NodeId> wrapped)
      : joint_(joint), nodes_(nodes), wrapped_(std::move(wrapped)) {
    part_.producer = joint.producer;
    part_.symbols = joint.symbols;
    part_.ops = joint.ops;
    part_.subgraphs = joint.subgraphs;
    part_.attributes = joint.attributes;
  }

  Graph build(const json& outputs) {
    for (const json& node : nodes_) {
      const std::string op = node.at("op");
      if (op == "placeholder") add_placeholder(node);
      if (op == "get_attr") part_.get_attr(node.at("name").get<std::string>(), node.at("target").get<std::string>());
      if (op == "call_function") add_call(node);
    }
    std::vector<NodeId> values;
    for (const json& name : outputs) values.push_back(name.is_null() ? kNoNode : here(name));
    part_.output(values);
    return std::move(part_);
  }

 private:
  NodeId here(const std::string& name) const {
    const NodeId id = part_.find(name);
    if (id == kNoNode) throw std::runtime_error("the record reads '" + name + "' before it is there");
    return id;
  }

  void add_placeholder(const json& node) {
    const std::string name = node.at("name");
    const NodeId source = joint_.find(name);
    const bool known = source != kNoNode;
    const NodeId added =
        part_.placeholder(name, known ? joint_[source].val : graph::Shared<graph::Value>(state_meta(states_++)));
    if (known) part_.set_meta(added, joint_[source].meta);
  }

  void add_call(const json& node) {
    const std::string name = node.at("name");
    const std::string target = node.at("target");
    if (target == kSave || target == kReplay) return add_wrapper(node);
    const NodeId source = joint_.find(name);
    const bool is_item =
        target == "operator.getitem" && node.contains("inputs") && part_[here(node.at("inputs").at(0))].target == kSave;
    if (is_item) return add_item(node);
    if (source == kNoNode) throw std::runtime_error("the joint graph has no '" + name + "'");
    Node copy = joint_[source];
    copy.users.clear();
    rewire(copy, source, node.contains("inputs") ? node.at("inputs").get<Names>() : Names(), node.contains("inputs"));
    part_.add(std::move(copy));
  }

  /// The first item of a wrapper is the state, the second is the result.
  void add_item(const json& node) {
    const NodeId wrapper = here(node.at("inputs").at(0));
    const bool is_result = items_of_[wrapper]++ > 0;
    const NodeId source = source_of_.at(wrapper);
    const auto val = is_result ? joint_[source].val : graph::Shared<graph::Value>(state_meta(states_++));
    const NodeId item = part_.call("operator.getitem", {Argument::node(wrapper), Argument(is_result ? 1 : 0)}, val,
                                   node.at("name").get<std::string>());
    if (is_result) replaced_[source] = part_[item].name;
  }

  void add_wrapper(const json& record) {
    const std::string target = record.at("target");
    const NodeId source = wrapped_.at(wrapper_number(record.at("name")));
    Node node = joint_[source];
    const Names inputs = record.contains("inputs") ? record.at("inputs").get<Names>() : Names();
    const auto own = static_cast<std::ptrdiff_t>(target == kReplay ? 1 : 0);
    rewire(node, source, Names(inputs.begin() + own, inputs.end()), true);
    graph::ArgumentList args;
    if (own) args.push_back(Argument::node(here(inputs.front())));
    args.emplace_back(graph::OperatorArg{node.target});
    args.insert(args.end(), node.args.begin(), node.args.end());
    node.args = std::move(args);
    node.name = record.at("name");
    node.target = target;
    node.users.clear();
    if (!own) node.val = std::nullopt;
    const NodeId added = part_.add(std::move(node));
    source_of_[added] = source;
    if (own) replaced_[source] = part_[added].name;
  }

  /// What a node of the joint graph is called here: merged nodes and wrapped ones have other names.
  std::string name_here(NodeId old, const Names& inputs, std::set<std::string>& seen) {
    const std::string& own = joint_[old].name;
    if (std::ranges::find(inputs, own) != inputs.end()) return own;
    if (const auto known = replaced_.find(old); known != replaced_.end()) return known->second;
    const auto next = std::ranges::find_if(inputs, [&](const std::string& name) { return !seen.contains(name); });
    const auto is_same = [&](const std::string& name) {
      const NodeId id = joint_.find(name);
      return id != kNoNode && joint_[id].target == joint_[old].target;
    };
    if (next != inputs.end() && is_same(*next)) return replaced_[old] = *next;
    const auto earlier = std::ranges::find_if(inputs, is_same);
    if (earlier == inputs.end()) throw std::runtime_error("nothing stands for '" + own + "'");
    return replaced_[old] = *earlier;
  }

  void rewire(Node& copy, NodeId source, const Names& inputs, bool differs) {
    std::map<NodeId, NodeId> map;
    std::set<std::string> seen;
    for (const NodeId old : joint_.inputs(source)) {
      const std::string name = differs ? name_here(old, inputs, seen) : joint_[old].name;
      seen.insert(name);
      map[old] = here(name);
    }
    if (differs && seen != std::set<std::string>(inputs.begin(), inputs.end()))
      throw std::runtime_error("the inputs of '" + copy.name + "' can't be matched");
    for (Argument& argument : copy.args) remap(argument, map);
    for (auto& [key, argument] : copy.kwargs) remap(argument, map);
  }

  const Graph& joint_;
  const json& nodes_;
  std::vector<NodeId> wrapped_;
  Graph part_;
  std::map<NodeId, std::string> replaced_;
  std::map<NodeId, NodeId> source_of_;
  std::map<NodeId, int> items_of_;
  int32_t states_ = 0;
};

}  // namespace

GraphPair recorded_pair(const Graph& joint, const json& decision) {
  const std::vector<NodeId> wrapped = wrapped_nodes(joint, decision);
  GraphPair pair;
  pair.forward = PartReplay(joint, decision.at("forward"), wrapped).build(decision.at("forward_outputs"));
  pair.backward = PartReplay(joint, decision.at("backward"), wrapped).build(decision.at("backward_outputs"));
  pair.forward.num_forward_outputs = joint.num_forward_outputs;
  return pair;
}

}  // namespace sapwood::test
