#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace sapwood::graph {

/// What the text form leaves out because it follows from the rest. Printer and parser walk a graph in the same order
/// with one of these each, so that what one omits the other puts back.

/// Row-major strides of `shape` (a dimension of size 0 counts as 1, as in PyTorch).
std::vector<SymExpr> contiguous_strides(const std::vector<SymExpr>& shape);

/// Whether the number of elements can be written down: no constant factor of it leaves 64 bits.
bool is_countable(const TensorMeta& tensor);

/// Whether a tensor of this layout has strides and a storage unless the text says otherwise.
bool has_storage_by_default(Layout layout);

/// Whether `tensor_meta` is set unless the text says otherwise: the value is or holds a tensor.
bool has_tensor(const Shared<Value>& val);

/// Storage numbers in the order of the text: a tensor that names none gets the next new number; its bytes follow from
/// its shape, or from the tensor that had the number first.
class StorageNumbers {
 public:
  /// Number of a tensor of `node` whose text names no storage. `tensor` must be the whole value of the node for the
  /// getitem rule: an element taken out of a tuple keeps the element's storage.
  int32_t default_number(const Graph& graph, const Node& node, const TensorMeta& tensor) const;
  /// The number of the next new storage.
  int32_t next() const { return next_; }
  /// Bytes of a tensor with strides, offset and number set whose text gives none; none if they can't be derived.
  std::optional<SymExpr> default_bytes(const TensorMeta& tensor) const;
  /// The first node whose whole value is a tensor of this storage in the graph of `enter`, or kNoNode.
  NodeId holder(int32_t number) const;
  /// Tells that `tensor` (with everything set) has been printed or read. `node`: the id if it is the node's whole
  /// value, otherwise kNoNode.
  void record(const TensorMeta& tensor, NodeId node);

  /// Nodes of another graph come now; returns the holders so far, to be given back to `leave`.
  std::unordered_map<int32_t, NodeId> enter();
  void leave(std::unordered_map<int32_t, NodeId> holders) { holders_ = std::move(holders); }

 private:
  int32_t next_ = 0;
  std::unordered_map<int32_t, SymExpr> bytes_;
  std::unordered_map<int32_t, NodeId> holders_;
};

}  // namespace sapwood::graph
