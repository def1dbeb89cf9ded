#include "partition/storage_numbers.h"

#include <algorithm>

namespace sapwood::partition {

StorageNumbers::StorageNumbers(const graph::Graph& graph) {
  for (const graph::NodeId id : graph.order())
    if (graph[id].val) visit(*graph[id].val);
}

void StorageNumbers::renew(graph::Value& value, bool is_view) {
  if (auto* tensor = value.as<graph::TensorMeta>()) renew(*tensor, is_view);
  if (auto* tuple = value.as<graph::TupleValue>())
    for (graph::Value& item : tuple->items) renew(item, is_view);
  if (auto* list = value.as<graph::ListValue>())
    for (graph::Value& item : list->items) renew(item, is_view);
}

void StorageNumbers::renew(graph::TensorMeta& tensor, bool is_view) {
  if (!tensor.storage) return;
  const auto known = renumbered_.find(*tensor.storage);
  if (known != renumbered_.end()) {
    tensor.storage = known->second;
  } else if (!is_view) {
    const int32_t number = fresh();
    renumbered_.emplace(*tensor.storage, number);
    tensor.storage = number;
  }
}

void StorageNumbers::visit(const graph::Value& value) {
  if (const auto* tensor = value.as<graph::TensorMeta>()) next_ = std::max(next_, tensor->storage.value_or(-1) + 1);
  if (const auto* tuple = value.as<graph::TupleValue>())
    for (const graph::Value& item : tuple->items) visit(item);
  if (const auto* list = value.as<graph::ListValue>())
    for (const graph::Value& item : list->items) visit(item);
}

}  // namespace sapwood::partition
