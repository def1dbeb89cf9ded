#include "check/handover.h"

#include <algorithm>
#include <charconv>

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

constexpr std::string_view kForwardGenerator = "fwd_rng_state_";
constexpr std::string_view kBackwardGenerator = "bwd_rng_state_";

/// Symbols are handed over apart from everything else.
enum class Kind : uint8_t { kValue, kSymbol };

Kind kind_of(const Node& node) {
  const auto& val = node.val;
  const bool is_symbol =
      val && (val->as<graph::SymIntValue>() || val->as<graph::SymFloatValue>() || val->as<graph::SymBoolValue>());
  return is_symbol ? Kind::kSymbol : Kind::kValue;
}

bool both_known(const graph::SymExpr& a, const graph::SymExpr& b) { return a.is_const() && b.is_const(); }

bool same_sizes(const std::vector<graph::SymExpr>& a, const std::vector<graph::SymExpr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (both_known(a[i], b[i]) && a[i] != b[i]) return false;
  return true;
}

/// Whether two nodes say that they yield the same type; unknown types and sizes agree with everything.
bool same_type(const Node& a, const Node& b) {
  if (!a.val || !b.val) return true;
  if (a.val->value.index() != b.val->value.index()) return false;
  const graph::TensorMeta* x = a.tensor();
  const graph::TensorMeta* y = b.tensor();
  if (!x || !y) return true;
  if (x->dtype != y->dtype || x->device != y->device || x->layout != y->layout) return false;
  if (!same_sizes(x->shape, y->shape)) return false;
  return !x->stride || !y->stride || same_sizes(*x->stride, *y->stride);
}

/// Binds the placeholders of one part and reports what doesn't fit.
class Binder {
 public:
  Binder(PairContext& context, PartReader& part) : context_(context), part_(part), graph_(part.graph()) {}

  /// fwd_rng_state_N and bwd_rng_state_N.
  bool bind_generator(NodeId id, std::string_view prefix) {
    const std::string& name = graph_[id].name;
    if (!name.starts_with(prefix)) return false;
    int64_t number = -1;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return false;
    part_.bind(id, context_.derive({DerivedKind::kGenerator, kNoValue, number}));
    return true;
  }

  /// `found` must be the inputs of the joint graph that `wanted` lists, in that order.
  void bind_joint_inputs(const std::vector<NodeId>& found, const std::vector<NodeId>& wanted) {
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string& name = graph_[found[i]].name;
      const NodeId at_place = i < wanted.size() ? wanted[i] : kNoNode;
      const NodeId named = context_.facts.graph.find(name);
      const bool is_input = named != kNoNode && !context_.facts.is_call(named);
      const NodeId joint = is_input ? named : at_place;
      if (joint != at_place || !is_input)
        report(found[i], "The input '" + name + "' isn't the joint graph's input at this place, which is " +
                             (at_place == kNoNode ? "none" : "'" + context_.facts.node(at_place).name + "'") + ".");
      if (joint == kNoNode) continue;
      bind_input(found[i], joint);
    }
    for (size_t i = found.size(); i < wanted.size(); ++i)
      report(kNoNode, "The input '" + context_.facts.node(wanted[i]).name + "' of the joint graph is missing.");
  }

  void bind_input(NodeId id, NodeId joint) {
    part_.bind(id, context_.table.value_of(joint));
    part_.bind_memory_of_joint(id, joint);
    if (!same_type(graph_[id], context_.facts.node(joint)))
      report(id, "The input '" + graph_[id].name + "' has another type than in the joint graph.");
  }

  /// Pairs by place; the name has to agree.
  void bind_handed_over(const PartReader& forward, NodeId id, NodeId source) {
    const std::string& name = graph_[id].name;
    const ValueId given = forward.value_of(source);
    if (!same_type(graph_[id], forward.graph()[source]))
      report(id, "'" + name + "' has another type than '" + forward.graph()[source].name +
                     "', which the forward returns at its place.");
    const ValueId promised = value_by_name(forward, name);
    if (promised == kNoValue || promised == given) {
      part_.bind(id, given);
      return part_.bind_memory_of_before(id, source);
    }
    report(id, "'" + name + "' is given " + context_.name_of(given) + ", which the forward returns at its place.");
    part_.bind(id, promised);
    const NodeId same = forward.graph().find(name);
    if (same != kNoNode) part_.bind_memory_of_before(id, same);
  }

  void bind_missing(NodeId id) {
    const std::string& name = graph_[id].name;
    report(id, "'" + name +
                   "' is neither an input of the joint graph that belongs to the backward nor returned by "
                   "the forward.");
    const NodeId joint = context_.facts.graph.find(name);
    if (joint != kNoNode) part_.bind(id, context_.table.value_of(joint));
  }

  void report(NodeId id, const std::string& message) {
    context_.findings.add(kBackwardInput, {part_.which(), id == kNoNode ? std::string() : graph_[id].name}, message,
                          "Let the forward return, behind the user's outputs, what the backward takes, in the same "
                          "order and under the same names.");
  }

 private:
  ValueId value_by_name(const PartReader& forward, const std::string& name) const {
    const NodeId same = forward.graph().find(name);
    if (same != kNoNode && forward.value_of(same) != kNoValue) return forward.value_of(same);
    const NodeId joint = context_.facts.graph.find(name);
    return joint == kNoNode ? kNoValue : context_.table.value_of(joint);
  }

  PairContext& context_;
  PartReader& part_;
  const Graph& graph_;
};

/// What the forward returns behind the user's outputs, by kind.
struct Tail {
  std::vector<NodeId> values;
  std::vector<NodeId> symbols;
};

Tail tail_of(PairContext& context, const PartReader& forward) {
  Tail tail;
  const std::vector<NodeId> outputs = forward.graph().output_values();
  for (auto i = static_cast<size_t>(std::max<int64_t>(context.facts.graph.num_forward_outputs, 0)); i < outputs.size();
       ++i) {
    if (outputs[i] == kNoNode) {
      context.findings.add(kBackwardInput, {Part::kForward, ""},
                           "The forward hands over None as output " + std::to_string(i) + ".",
                           "Hand over values only.");
      continue;
    }
    (kind_of(forward.graph()[outputs[i]]) == Kind::kSymbol ? tail.symbols : tail.values).push_back(outputs[i]);
  }
  return tail;
}

bool comes_directly(const PairContext& context, const Graph& forward, const Tail& tail, const std::string& name) {
  const NodeId joint = context.facts.graph.find(name);
  if (joint == kNoNode || !context.facts.is_opaque_primal(joint)) return false;
  return std::ranges::none_of(tail.values, [&](NodeId id) { return forward[id].name == name; });
}

void pair_up(Binder& binder, const PartReader& forward, const std::vector<NodeId>& taken,
             const std::vector<NodeId>& given) {
  for (size_t i = 0; i < taken.size(); ++i) {
    if (i < given.size())
      binder.bind_handed_over(forward, taken[i], given[i]);
    else
      binder.bind_missing(taken[i]);
  }
  for (size_t i = taken.size(); i < given.size(); ++i)
    binder.report(kNoNode, "The forward hands over '" + forward.graph()[given[i]].name +
                               "', for which the backward has no input.");
}

}  // namespace

void bind_forward_inputs(PairContext& context, PartReader& forward) {
  Binder binder(context, forward);
  std::vector<NodeId> wanted = context.facts.with_role(Role::kPrimal);
  const std::vector<NodeId> seeds = context.facts.with_role(Role::kForwardSeed);
  wanted.insert(wanted.end(), seeds.begin(), seeds.end());
  std::vector<NodeId> found;
  for (const NodeId id : forward.graph().placeholders())
    if (!binder.bind_generator(id, kForwardGenerator)) found.push_back(id);
  binder.bind_joint_inputs(found, wanted);
}

void bind_backward_inputs(PairContext& context, const PartReader& forward, PartReader& backward) {
  Binder binder(context, backward);
  const Tail tail = tail_of(context, forward);
  std::vector<NodeId> tangents;
  std::vector<NodeId> seeds;
  std::vector<NodeId> values;
  std::vector<NodeId> symbols;
  for (const NodeId id : backward.graph().placeholders()) {
    const Node& node = backward.graph()[id];
    const NodeId joint = context.facts.graph.find(node.name);
    const Role role = joint == kNoNode ? Role::kCall : context.facts.role_of(joint);
    if (binder.bind_generator(id, kBackwardGenerator)) continue;
    if (comes_directly(context, forward.graph(), tail, node.name))
      binder.bind_input(id, joint);
    else if (role == Role::kTangent)
      tangents.push_back(id);
    else if (role == Role::kBackwardSeed)
      seeds.push_back(id);
    else
      (kind_of(node) == Kind::kSymbol ? symbols : values).push_back(id);
  }
  binder.bind_joint_inputs(tangents, context.facts.with_role(Role::kTangent));
  binder.bind_joint_inputs(seeds, context.facts.with_role(Role::kBackwardSeed));
  pair_up(binder, forward, symbols, tail.symbols);
  pair_up(binder, forward, values, tail.values);
}

}  // namespace sapwood::check
