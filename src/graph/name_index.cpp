#include "graph/name_index.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace sapwood::graph {
namespace {

constexpr size_t kFewest = 16;

uint32_t hash_of(std::string_view name) { return static_cast<uint32_t>(std::hash<std::string_view>{}(name)); }

}  // namespace

NodeId NameIndex::find(const std::vector<Node>& nodes, std::string_view name) const {
  return entries_.empty() ? kNoNode : entries_[slot_of(nodes, name, hash_of(name))].id;
}

bool NameIndex::insert(const std::vector<Node>& nodes, NodeId id, std::string_view name) {
  if (2 * (used_ + 1) > entries_.size()) grow(std::max(kFewest, 2 * entries_.size()));
  const uint32_t hash = hash_of(name);
  Entry& entry = entries_[slot_of(nodes, name, hash)];
  if (entry.id != kNoNode) return false;
  entry = {hash, id};
  ++used_;
  return true;
}

// Entries behind the gap move up until one is at home, so that no search ends too early.
void NameIndex::erase(const std::vector<Node>& nodes, NodeId id) {
  const std::string_view name = nodes[static_cast<size_t>(id)].name;
  size_t gap = slot_of(nodes, name, hash_of(name));
  for (size_t slot = next(gap); entries_[slot].id != kNoNode; slot = next(slot)) {
    const size_t mask = entries_.size() - 1;
    const size_t home = entries_[slot].hash & mask;
    if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
    entries_[gap] = entries_[slot];
    gap = slot;
  }
  entries_[gap] = {};
  --used_;
}

void NameIndex::reserve(size_t names) {
  if (2 * names > entries_.size()) grow(std::bit_ceil(std::max(kFewest, 2 * names)));
}

/// Where the name is, or the free slot where it would be.
size_t NameIndex::slot_of(const std::vector<Node>& nodes, std::string_view name, uint32_t hash) const {
  size_t slot = hash & (entries_.size() - 1);
  for (; entries_[slot].id != kNoNode; slot = next(slot))
    if (entries_[slot].hash == hash && nodes[static_cast<size_t>(entries_[slot].id)].name == name) break;
  return slot;
}

void NameIndex::grow(size_t slots) {
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(slots));
  for (const Entry& entry : old) {
    if (entry.id == kNoNode) continue;
    size_t slot = entry.hash & (slots - 1);
    while (entries_[slot].id != kNoNode) slot = next(slot);
    entries_[slot] = entry;
  }
}

}  // namespace sapwood::graph
