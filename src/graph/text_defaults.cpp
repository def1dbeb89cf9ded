#include "graph/text_defaults.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace sapwood::graph {

namespace {

bool all_const(const std::vector<SymExpr>& items) {
  return std::all_of(items.begin(), items.end(), [](const SymExpr& e) { return e.is_const(); });
}

/// Bytes up to the last element of a tensor of constant sizes; none on overflow or if no size can be meant.
std::optional<int64_t> constant_extent(const TensorMeta& t) {
  int64_t elements = t.offset->value();
  for (size_t i = 0; i < t.shape.size(); ++i) {
    if (t.shape[i].value() == 0) return 0;
    int64_t step = 0;
    if (__builtin_mul_overflow(t.shape[i].value() - 1, (*t.stride)[i].value(), &step)) return std::nullopt;
    if (__builtin_add_overflow(elements, step, &elements)) return std::nullopt;
  }
  int64_t bytes = 0;
  if (__builtin_add_overflow(elements, 1, &elements)) return std::nullopt;
  if (__builtin_mul_overflow(elements, dtype_bytes(t.dtype), &bytes) || bytes < 0) return std::nullopt;
  return bytes;
}

SymExpr symbolic_extent(const TensorMeta& t) {
  const SymExpr item = dtype_bytes(t.dtype);
  if (*t.offset == SymExpr(0) && *t.stride == contiguous_strides(t.shape)) return item * t.numel();
  SymExpr elements = *t.offset + SymExpr(1);
  for (size_t i = 0; i < t.shape.size(); ++i) elements = elements + (t.shape[i] - SymExpr(1)) * (*t.stride)[i];
  return item * elements;
}

/// The result of `compute`, or none if it is too large for an expression.
template <typename Compute>
std::optional<SymExpr> attempt(Compute&& compute) {
  try {
    return compute();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return std::nullopt;
  }
}

const TensorMeta* tuple_element(const Value& val, int64_t index) {
  const std::vector<Value>* items = nullptr;
  if (const auto* tuple = val.as<TupleValue>()) items = &tuple->items;
  if (const auto* list = val.as<ListValue>()) items = &list->items;
  if (items == nullptr || index < 0 || static_cast<size_t>(index) >= items->size()) return nullptr;
  return (*items)[static_cast<size_t>(index)].as<TensorMeta>();
}

/// The tensor that a getitem node takes out of a tuple, or null.
const TensorMeta* taken_element(const Graph& graph, const Node& node) {
  if (!node.is_call("operator.getitem") || node.args.size() != 2) return nullptr;
  const auto* source = node.args[0].as<NodeArg>();
  const auto* index = node.args[1].as<int64_t>();
  if (source == nullptr || index == nullptr || !graph[source->id].val) return nullptr;
  return tuple_element(*graph[source->id].val, *index);
}

bool holds_tensor(const Value& val) {
  if (val.as<TensorMeta>() != nullptr) return true;
  if (const auto* tuple = val.as<TupleValue>())
    return std::any_of(tuple->items.begin(), tuple->items.end(), holds_tensor);
  if (const auto* list = val.as<ListValue>()) return std::any_of(list->items.begin(), list->items.end(), holds_tensor);
  return false;
}

}  // namespace

std::vector<SymExpr> contiguous_strides(const std::vector<SymExpr>& shape) {
  std::vector<SymExpr> strides(shape.size());
  SymExpr step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    int64_t product = 0;
    if (!shape[i].is_const() || !step.is_const()) {
      step = attempt([&] { return step * shape[i]; }).value_or(std::numeric_limits<int64_t>::max());
    } else if (!__builtin_mul_overflow(step.value(), std::max<int64_t>(shape[i].value(), 1), &product)) {
      step = product;
    } else {
      step = std::numeric_limits<int64_t>::max();  // no tensor is this large: strides that follow are written out
    }
  }
  return strides;
}

bool is_countable(const TensorMeta& tensor) {
  return attempt([&] { return tensor.numel(); }).has_value();
}

bool has_storage_by_default(Layout layout) { return layout == Layout::kStrided || layout == Layout::kJagged; }

bool has_tensor(const Shared<Value>& val) { return val && holds_tensor(*val); }

int32_t StorageNumbers::default_number(const Graph& graph, const Node& node, const TensorMeta& tensor) const {
  const bool whole = node.val && node.val->as<TensorMeta>() == &tensor;
  const TensorMeta* element = whole ? taken_element(graph, node) : nullptr;
  return element != nullptr && element->storage ? *element->storage : next_;
}

std::optional<SymExpr> StorageNumbers::default_bytes(const TensorMeta& tensor) const {
  if (!tensor.storage) return std::nullopt;
  if (const auto known = bytes_.find(*tensor.storage); known != bytes_.end()) return known->second;
  if (!tensor.stride || !tensor.offset || tensor.stride->size() != tensor.shape.size()) return std::nullopt;
  if (all_const(tensor.shape) && all_const(*tensor.stride) && tensor.offset->is_const()) {
    const std::optional<int64_t> bytes = constant_extent(tensor);
    return bytes ? std::optional<SymExpr>(*bytes) : std::nullopt;
  }
  return attempt([&] { return symbolic_extent(tensor); });
}

NodeId StorageNumbers::holder(int32_t number) const {
  const auto found = holders_.find(number);
  return found == holders_.end() ? kNoNode : found->second;
}

void StorageNumbers::record(const TensorMeta& tensor, NodeId node) {
  if (!tensor.storage) return;
  const int32_t number = *tensor.storage;
  if (number >= next_ && number < std::numeric_limits<int32_t>::max()) next_ = number + 1;
  if (tensor.storage_bytes) bytes_.try_emplace(number, *tensor.storage_bytes);
  if (node != kNoNode) holders_.try_emplace(number, node);
}

std::unordered_map<int32_t, NodeId> StorageNumbers::enter() { return std::exchange(holders_, {}); }

}  // namespace sapwood::graph
