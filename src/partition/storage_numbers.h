#pragma once

#include <map>

#include "graph/graph.h"

namespace sapwood::partition {

/// Numbers for the storages of nodes that are added to a graph: above every number that the graph has. Doesn't keep the
/// graph.
class StorageNumbers {
 public:
  explicit StorageNumbers(const graph::Graph& graph);

  /// A number that no storage has yet.
  int32_t fresh() { return next_++; }

  /// For the copy of a node that is computed again: gives the storages of its value numbers of their own, so that it
  /// isn't taken for an alias of the first one. A view shares the storage of its base, which has a new number only if
  /// the base was computed again.
  void renew(graph::Value& value, bool is_view);

 private:
  void renew(graph::TensorMeta& tensor, bool is_view);
  void visit(const graph::Value& value);

  int32_t next_ = 0;
  std::map<int32_t, int32_t> renumbered_;
};

}  // namespace sapwood::partition
