#include "partition/saved_values.h"

#include <algorithm>
#include <map>
#include <set>

#include "partition/selection.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::SymExpr;

void collect(const SymExpr& expr, std::set<std::string>& symbols) {
  if (expr.is_const()) return;
  for (std::string& name : expr.free_symbols()) symbols.insert(std::move(name));
}

void collect(const graph::Value& value, std::set<std::string>& symbols) {
  if (const auto* size = value.as<graph::SymIntValue>()) collect(size->expr, symbols);
  if (const auto* truth = value.as<graph::SymBoolValue>()) collect(truth->expr, symbols);
  if (const auto* tensor = value.as<graph::TensorMeta>()) {
    for (const SymExpr& size : tensor->shape) collect(size, symbols);
    for (const SymExpr& stride : tensor->stride.value_or(std::vector<SymExpr>{})) collect(stride, symbols);
    if (tensor->offset) collect(*tensor->offset, symbols);
  }
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) collect(item, symbols);
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) collect(item, symbols);
}

/// The symbol that a node defines: an input that is a bare symbol, or the first value of a data-dependent one.
const std::string* bound_symbol(const JointView& view, NodeId id) {
  const auto& val = view.node(id).val;
  const auto* size = val ? val->as<graph::SymIntValue>() : nullptr;
  if (!size || size->expr.op() != graph::SymOp::kSymbol) return nullptr;
  const std::string& name = size->expr.name();
  const auto known = view.graph->symbols.find(name);
  const bool unbacked = known != view.graph->symbols.end() && known->second.unbacked;
  const bool is_placeholder = view.node(id).kind == graph::NodeKind::kPlaceholder;
  return is_placeholder || unbacked ? &name : nullptr;
}

bool only_assertions_read(const JointView& view, NodeId id) {
  const auto& val = view.node(id).val;
  if (!val || !val->as<graph::SymBoolValue>() || view.users_of(id).empty()) return false;
  return std::ranges::all_of(view.users_of(id),
                             [&](NodeId user) { return view.node(user).target == "aten._assert_scalar.default"; });
}

void drop_unread(const JointView& view, SavedSets& sets) {
  std::vector<NodeId> inputs = sets.symbols;
  inputs.insert(inputs.end(), sets.tensors.begin(), sets.tensors.end());
  const std::vector<NodeId> own = backward_only_inputs(view);
  inputs.insert(inputs.end(), own.begin(), own.end());
  const Selection backward = select_nodes(view, inputs, view.backward_outputs, Side::kBackward);
  const auto unread = [&](NodeId id) {
    // An object among the inputs reaches the backward by itself.
    return is_unused_input(view, backward, id) || (view.is_opaque(id) && view.role_of(id) == Role::kPrimal);
  };
  std::erase_if(sets.tensors, unread);
  std::erase_if(sets.symbols, unread);
}

/// Puts the symbols that bind a name first, and adds those that the shapes handed over need.
void bind_symbols(const JointView& view, SavedSets& sets) {
  std::map<std::string, NodeId, std::less<>> binder;
  for (const NodeId id : view.order)
    if (const std::string* name = bound_symbol(view, id)) binder.emplace(*name, id);

  std::set<std::string> bound;
  std::vector<NodeId> binding;
  std::vector<NodeId> derived;
  for (const NodeId id : sets.symbols) {
    const std::string* name = bound_symbol(view, id);
    if (name) bound.insert(*name);
    (name ? binding : derived).push_back(id);
  }
  std::vector<NodeId> handed_over = derived;
  handed_over.insert(handed_over.end(), sets.tensors.begin(), sets.tensors.end());
  for (const NodeId id : view.order)
    if (view.role_of(id) == Role::kTangent) handed_over.push_back(id);
  for (const NodeId id : handed_over) {
    if (!view.node(id).val) continue;
    for (const std::string& name : free_symbols(*view.node(id).val)) {
      if (!bound.insert(name).second) continue;
      if (const auto found = binder.find(name); found != binder.end()) binding.push_back(found->second);
    }
  }
  sets.symbols = std::move(binding);
  sets.symbols.insert(sets.symbols.end(), derived.begin(), derived.end());
}

}  // namespace

std::vector<std::string> free_symbols(const graph::Value& value) {
  std::set<std::string> symbols;
  collect(value, symbols);
  return {symbols.begin(), symbols.end()};
}

std::vector<NodeId> backward_only_inputs(const JointView& view) {
  std::vector<NodeId> inputs;
  for (const Role wanted : {Role::kTangent, Role::kBackwardSeed})
    for (const NodeId id : view.order)
      if (view.role_of(id) == wanted) inputs.push_back(id);
  return inputs;
}

SavedSets split_by_kind(const JointView& view, const std::vector<NodeId>& chosen) {
  SavedSets sets;
  for (const NodeId id : chosen) {
    if (!view.is_symbol(id))
      sets.tensors.push_back(id);
    else if (!only_assertions_read(view, id))
      sets.symbols.push_back(id);
  }
  return sets;
}

SavedSets settle(const JointView& view, SavedSets chosen) {
  drop_unread(view, chosen);
  bind_symbols(view, chosen);
  std::ranges::stable_partition(chosen.tensors,
                                [&](NodeId id) { return !view.node(id).meta.saved_tensor_with_no_vc_check; });
  return chosen;
}

}  // namespace sapwood::partition
