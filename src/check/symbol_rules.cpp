#include "check/symbol_rules.h"

#include <set>

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::SymExpr;

using Names = std::set<std::string, std::less<>>;

void collect(const SymExpr& expr, Names& names) {
  if (expr.is_const()) return;
  for (std::string& name : expr.free_symbols()) names.insert(std::move(name));
}

void collect(const graph::TensorMeta& tensor, Names& names) {
  for (const SymExpr& size : tensor.shape) collect(size, names);
  if (tensor.stride)
    for (const SymExpr& stride : *tensor.stride) collect(stride, names);
  if (tensor.offset) collect(*tensor.offset, names);
}

void collect(const graph::Value& value, Names& names) {
  if (const auto* size = value.as<graph::SymIntValue>()) collect(size->expr, names);
  if (const auto* truth = value.as<graph::SymBoolValue>()) collect(truth->expr, names);
  if (const auto* tensor = value.as<graph::TensorMeta>()) collect(*tensor, names);
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) collect(item, names);
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) collect(item, names);
}

void collect(const graph::Argument& argument, Names& names) {
  const auto each = [&](const graph::ArgumentList& items) {
    for (const graph::Argument& item : items) collect(item, names);
  };
  if (const auto* expr = argument.as<SymExpr>()) collect(*expr, names);
  if (const auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (const auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
  if (const auto* slice = argument.as<graph::SliceArg>()) each(slice->bounds);
  if (const auto* dict = argument.as<graph::DictArg>())
    for (const auto& [key, item] : dict->items) collect(item, names);
}

void bind_symbol(const SymExpr& expr, Names& bound) {
  if (expr.op() == graph::SymOp::kSymbol) bound.insert(expr.name());
}

bool is_unbacked(const Graph& joint, const SymExpr& expr) {
  if (expr.op() != graph::SymOp::kSymbol) return false;
  const auto found = joint.symbols.find(expr.name());
  return found != joint.symbols.end() && found->second.unbacked;
}

/// Adds what a node binds.
void collect_bound(const Graph& joint, const Node& node, Names& bound) {
  for (const auto& [symbol, path] : node.meta->unbacked_bindings)
    if (node.kind == graph::NodeKind::kCallFunction) bound.insert(symbol);
  if (!node.val) return;
  const auto* size = node.val->as<graph::SymIntValue>();
  if (node.kind == graph::NodeKind::kCallFunction) {
    if (size && is_unbacked(joint, size->expr)) bind_symbol(size->expr, bound);
    return;
  }
  if (node.kind != graph::NodeKind::kPlaceholder) return;
  if (size) bind_symbol(size->expr, bound);
  if (const auto* tensor = node.val->as<graph::TensorMeta>())
    for (const SymExpr& extent : tensor->shape) bind_symbol(extent, bound);
}

}  // namespace

void check_symbols(PairContext& context, const Graph& part, Part which) {
  const std::vector<NodeId> order = part.order();
  Names bound;
  for (const NodeId id : order) collect_bound(context.facts.graph, part[id], bound);
  for (const NodeId id : order) {
    const Node& node = part[id];
    Names needed;
    if (node.val) collect(*node.val, needed);
    for (const graph::Argument& argument : node.args) collect(argument, needed);
    for (const auto& [name, argument] : node.kwargs) collect(argument, needed);
    for (const std::string& symbol : needed) {
      if (!bound.insert(symbol).second) continue;
      context.findings.add(kSymbolsBound, {which, node.name},
                           "'" + node.name + "' needs the symbol " + symbol + ", which no input of the " +
                               std::string(part_name(which)) + " tells.",
                           "Save the symbol, or a tensor that has it as a size.");
    }
  }
}

}  // namespace sapwood::check
