#include "partition/saved_values.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "partition/selection.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::SymExpr;

class SymbolCollector {
 public:
  explicit SymbolCollector(const graph::SymbolTable& known) : known_(known) {}

  void add(const graph::Value& value) {
    if (const auto* size = value.as<graph::SymIntValue>()) add(size->expr);
    if (const auto* truth = value.as<graph::SymBoolValue>()) add(truth->expr);
    if (const auto* real = value.as<graph::SymFloatValue>()) add_words(real->expr);
    if (const auto* tensor = value.as<graph::TensorMeta>()) add(*tensor);
    if (const auto* tuple = value.as<graph::TupleValue>())
      for (const graph::Value& item : tuple->items) add(item);
    if (const auto* list = value.as<graph::ListValue>())
      for (const graph::Value& item : list->items) add(item);
  }

  std::set<std::string> names;

 private:
  void add(const SymExpr& expr) {
    if (expr.is_const()) return;
    for (std::string& name : expr.free_symbols()) names.insert(std::move(name));
  }

  void add(const graph::TensorMeta& tensor) {
    for (const SymExpr& size : tensor.shape) add(size);
    for (const SymExpr& stride : tensor.stride.value_or(std::vector<SymExpr>{})) add(stride);
    if (tensor.offset) add(*tensor.offset);
  }

  /// Expressions of symbolic floats are text: their symbols are the words that the graph declares.
  void add_words(std::string_view text) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (!text.empty()) {
      const auto length = static_cast<size_t>(std::ranges::find_if_not(text, in_word) - text.begin());
      const std::string word(text.substr(0, length));
      if (known_.contains(word)) names.insert(word);
      text.remove_prefix(std::max<size_t>(length, 1));
    }
  }

  const graph::SymbolTable& known_;
};

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
  const Selection backward = select_nodes(view, backward_inputs(view, sets), view.backward_outputs, Side::kBackward);
  // The state of compiled hooks reaches the backward by itself.
  const auto unread = [&](NodeId id) { return is_unused_input(view, backward, id) || view.is_backward_state(id); };
  std::erase_if(sets.tensors, unread);
  std::erase_if(sets.objects, unread);
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
    for (const std::string& name : free_symbols(view, id)) {
      if (!bound.insert(name).second) continue;
      if (const auto found = binder.find(name); found != binder.end()) binding.push_back(found->second);
    }
  }
  sets.symbols = std::move(binding);
  sets.symbols.insert(sets.symbols.end(), derived.begin(), derived.end());
}

}  // namespace

std::vector<std::string> free_symbols(const JointView& view, NodeId id) {
  SymbolCollector collector(view.graph->symbols);
  if (view.node(id).val) collector.add(*view.node(id).val);
  return {collector.names.begin(), collector.names.end()};
}

std::vector<NodeId> backward_only_inputs(const JointView& view) {
  std::vector<NodeId> inputs;
  for (const Role wanted : {Role::kTangent, Role::kBackwardSeed})
    for (const NodeId id : view.order)
      if (view.role_of(id) == wanted) inputs.push_back(id);
  return inputs;
}

std::vector<NodeId> backward_inputs(const JointView& view, const SavedSets& sets) {
  std::vector<NodeId> inputs = sets.symbols;
  const std::vector<NodeId> own = backward_only_inputs(view);
  for (const auto* part : {&sets.tensors, &sets.objects, &own}) inputs.insert(inputs.end(), part->begin(), part->end());
  for (const NodeId id : view.order)
    if (view.is_backward_state(id)) inputs.push_back(id);
  return inputs;
}

SavedSets split_by_kind(const JointView& view, const std::vector<NodeId>& chosen) {
  SavedSets sets;
  for (const NodeId id : chosen) {
    if (view.is_opaque(id))
      sets.objects.push_back(id);
    else if (!view.is_symbol(id))
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
                                [&](NodeId id) { return !view.node(id).meta->saved_tensor_with_no_vc_check; });
  return chosen;
}

}  // namespace sapwood::partition
