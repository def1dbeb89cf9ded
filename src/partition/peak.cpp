#include "partition/peak.h"

#include <algorithm>
#include <map>

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;

/// Memory of one part, storage by storage.
class Simulation {
 public:
  Simulation(const JointView& view, const Selection& part) : view_(view), part_(part) {
    for (const NodeId id : part.nodes)
      for (const NodeId read : view.inputs_of(id)) count(read);
    for (const NodeId id : part.outputs)
      if (id != kNoNode) count(id);
  }

  /// What `id` holds is there from the start, and counts.
  void hold(NodeId id) { allocate(id); }
  /// What `id` holds belongs to somebody else.
  void ignore(NodeId id) {
    if (const int32_t storage = storage_of(id); storage >= 0) blocks_[storage].foreign = true;
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

  /// Tuples have no memory of their own: their items have.
  int32_t storage_of(NodeId id) const {
    const graph::TensorMeta* tensor = view_.node(id).tensor();
    return tensor ? tensor->storage.value_or(-1) : -1;
  }
  void count(NodeId id) {
    if (const int32_t storage = storage_of(id); storage >= 0) ++blocks_[storage].readers;
  }
  void allocate(NodeId id) {
    const int32_t storage = storage_of(id);
    if (storage < 0) return;
    Block& block = blocks_[storage];
    if (block.foreign || block.bytes != 0) return;
    block.bytes = view_.bytes(id);
    live_ += block.bytes;
  }
  void free(Block& block) {
    live_ -= block.bytes;
    block.bytes = 0;
  }
  void release(NodeId id) {
    const int32_t storage = storage_of(id);
    if (storage < 0) return;
    Block& block = blocks_[storage];
    if (--block.readers == 0) free(block);
  }
  void release_if_unread(NodeId id) {
    const int32_t storage = storage_of(id);
    if (storage >= 0 && blocks_[storage].readers == 0) free(blocks_[storage]);
  }

  const JointView& view_;
  const Selection& part_;
  std::map<int32_t, Block> blocks_;  // by storage number
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
