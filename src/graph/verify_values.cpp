#include <limits>

#include "graph/sym_node.h"
#include "graph/verify_rules.h"

namespace sapwood::graph {
namespace {

/// Checks the values of one node.
class ValueChecker {
 public:
  ValueChecker(VerifyContext& context, NodeId node) : context_(context), node_(node) {}

  void check(const Value& value) {
    if (const auto* tensor = value.as<TensorMeta>()) check_tensor(*tensor);
    if (const auto* size = value.as<SymIntValue>()) check_symbols(size->expr, "value");
    if (const auto* flag = value.as<SymBoolValue>()) check_symbols(flag->expr, "value");
    if (const auto* tuple = value.as<TupleValue>()) check_all(tuple->items);
    if (const auto* list = value.as<ListValue>()) check_all(list->items);
    if (const auto* dict = value.as<DictValue>())
      for (const auto& [key, item] : dict->items) check(item);
  }

  void check_tensor(const TensorMeta& tensor) {
    check_list(tensor.shape, "size", "negative-size");
    if (tensor.stride) check_list(*tensor.stride, "stride", "negative-stride");
    if (tensor.offset) check_list({*tensor.offset}, "offset", "negative-offset");
    if (tensor.storage_bytes) check_list({*tensor.storage_bytes}, "storage_bytes", "negative-storage");
    const bool with_storage = tensor.storage.has_value();
    if (tensor.stride.has_value() != with_storage || tensor.offset.has_value() != with_storage ||
        tensor.storage_bytes.has_value() != with_storage) {
      context_.report("storage-fields", node_,
                      "stride, offset, storage and storage_bytes are given together or not at all");
      return;
    }
    if (!with_storage) return;
    if (tensor.stride->size() != tensor.shape.size()) {
      context_.report(
          "stride-rank", node_,
          std::to_string(tensor.shape.size()) + " sizes but " + std::to_string(tensor.stride->size()) + " strides");
      return;
    }
    check_geometry(tensor);
  }

 private:
  void check_all(const std::vector<Value>& values) {
    for (const Value& value : values) check(value);
  }

  void check_list(const std::vector<SymExpr>& list, std::string_view what, std::string_view rule) {
    for (const SymExpr& expr : list) {
      check_symbols(expr, what);
      if (expr.is_const() && expr.value() < 0)
        context_.report(rule, node_, std::string(what) + " " + expr.str() + " is negative");
    }
  }

  void check_symbols(const SymExpr& expr, std::string_view what) {
    if (expr.is_const()) return;
    for (const std::string& symbol : expr.free_symbols())
      if (!context_.outermost.symbols.contains(symbol))
        context_.report("known-symbol", node_,
                        "its " + std::string(what) + " " + expr.str() + " has the unknown symbol '" + symbol + "'");
  }

  /// Only for geometry without symbols. The last element must lie inside the storage.
  void check_geometry(const TensorMeta& tensor) {
    if (!tensor.offset->is_const() || !tensor.storage_bytes->is_const()) return;
    std::optional<int64_t> elements = checked_add(tensor.offset->value(), 1);  // up to the last one that is touched
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      const SymExpr& size = tensor.shape[i];
      const SymExpr& stride = (*tensor.stride)[i];
      if (!size.is_const() || !stride.is_const()) return;
      if (size.value() < 0 || stride.value() < 0) return;  // has its own rule
      if (size.value() == 0) return;                       // an empty tensor touches nothing
      const std::optional<int64_t> extent = checked_mul(size.value() - 1, stride.value());
      if (elements) elements = extent ? checked_add(*elements, *extent) : std::nullopt;
    }
    const std::optional<int64_t> bytes = elements ? checked_mul(*elements, dtype_bytes(tensor.dtype)) : std::nullopt;
    if (bytes && *bytes <= tensor.storage_bytes->value()) return;
    context_.report("storage-bytes", node_,
                    "shape, strides and offset reach " + (bytes ? std::to_string(*bytes) : "more than 2^63") +
                        " bytes into a storage of " + tensor.storage_bytes->str());
  }

  VerifyContext& context_;
  NodeId node_;
};

}  // namespace

void verify_values(VerifyContext& context) {
  for (const NodeId id : context.order)
    if (const auto& value = context.graph[id].val) ValueChecker(context, id).check(*value);
  for (const auto& [name, attribute] : context.graph.attributes)
    ValueChecker(context, kNoNode).check_tensor(attribute.tensor);
}

}  // namespace sapwood::graph
