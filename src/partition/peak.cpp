#include "partition/peak.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;

/// Memory of one part, storage by storage.
class Simulation {
 public:
  Simulation(const JointView& view, const Selection& part) : view_(view), part_(part), dense_(view.role.size()) {
    for (const NodeId id : part.nodes)
      for (const NodeId read : view.inputs_of(id)) count(read);
    for (const NodeId id : part.outputs)
      if (id != kNoNode) count(id);
  }

  /// What `id` holds is there from the start, and counts.
  void hold(NodeId id) { allocate(id); }
  /// What `id` holds belongs to somebody else.
  void ignore(NodeId id) {
    if (Block* block = block_of(id)) block->foreign = true;
  }

  int64_t run() {
    int64_t most = live_;
    for (const NodeId id : part_.nodes) {
      allocate(id);
      most = std::max(most, live_);
      release_if_unread(id);
      for (const NodeId read : view_.inputs_of(id)) release(read);
    }
    return most;
  }

  int64_t live() const { return live_; }

 private:
  struct Block {
    int64_t bytes = 0;
    int64_t readers = 0;
    bool foreign = false;
  };

  /// Null for what has no memory of its own, like a tuple: its items have.
  Block* block_of(NodeId id) {
    const int32_t storage = view_.storage(id);
    if (storage < 0) return nullptr;
    return static_cast<size_t>(storage) < dense_.size() ? &dense_[static_cast<size_t>(storage)] : &sparse_[storage];
  }
  void count(NodeId id) {
    if (Block* block = block_of(id)) ++block->readers;
  }
  void allocate(NodeId id) {
    Block* block = block_of(id);
    if (!block || block->foreign || block->bytes != 0) return;
    block->bytes = view_.bytes(id);
    live_ += block->bytes;
  }
  void free(Block& block) {
    live_ -= block.bytes;
    block.bytes = 0;
  }
  void release(NodeId id) {
    if (Block* block = block_of(id); block && --block->readers == 0) free(*block);
  }
  void release_if_unread(NodeId id) {
    if (Block* block = block_of(id); block && block->readers == 0) free(*block);
  }

  const JointView& view_;
  const Selection& part_;
  std::vector<Block> dense_;                   // by storage number, which is seldom beyond the number of nodes
  std::unordered_map<int32_t, Block> sparse_;  // the others
  int64_t live_ = 0;
};

}  // namespace

PeakMemory simulate_peak(const JointView& view, const Parts& parts) {
  PeakMemory result;
  Simulation forward(view, parts.forward);
  for (const NodeId id : parts.forward.inputs) forward.ignore(id);
  result.forward = forward.run();
  result.between = forward.live();

  Simulation backward(view, parts.backward);
  for (const NodeId id : view.order)
    if (view.is_input(id) || view.role_of(id) == Role::kTangent) backward.ignore(id);
  for (const NodeId id : parts.backward.inputs) backward.hold(id);
  result.backward = backward.run();
  return result;
}

}  // namespace sapwood::partition
