#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/node.h"

namespace sapwood::graph {

/// Finds a graph's nodes by name. The names stay in the nodes, which every call is given: an entry is eight bytes.
/// Expected O(1) per call; open addressing with linear probing, at most half full.
class NameIndex {
 public:
  NodeId find(const std::vector<Node>& nodes, std::string_view name) const;  ///< kNoNode if there is none
  /// Adds a node, or leaves all as it is and returns false if its name is taken.
  bool insert(const std::vector<Node>& nodes, NodeId id, std::string_view name);
  /// Pre: the node is in the index, under the name that it has.
  void erase(const std::vector<Node>& nodes, NodeId id);
  void reserve(size_t names);

 private:
  struct Entry {
    uint32_t hash = 0;
    NodeId id = kNoNode;
  };
  size_t slot_of(const std::vector<Node>& nodes, std::string_view name, uint32_t hash) const;
  size_t next(size_t slot) const { return (slot + 1) & (entries_.size() - 1); }
  void grow(size_t slots);

  std::vector<Entry> entries_;  // a power of two of them, or none
  size_t used_ = 0;
};

}  // namespace sapwood::graph
