#include "partition/snapshot.h"

#include <algorithm>
#include <set>

#include "partition/pair.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

/// What a call writes to: the storage of its first argument, -1 if it doesn't write.
int32_t written_storage(const JointView& view, NodeId id) {
  if (!view.is_call(id) || !view.info(id).is_mutable || view.inputs_of(id).empty()) return -1;
  return view.storage(view.inputs_of(id).front());
}

std::set<int32_t> overwritten_storages(const JointView& view) {
  std::set<int32_t> inputs;
  for (const NodeId id : view.order)
    if (view.is_input(id)) inputs.insert(view.storage(id));
  std::set<int32_t> storages;
  for (const NodeId id : view.order) {
    const int32_t storage = written_storage(view, id);
    if (storage >= 0 && view.in_forward[static_cast<size_t>(id)] && inputs.contains(storage)) storages.insert(storage);
  }
  return storages;
}

/// Those that read the numbers: not views of the value, not its size, not the write itself, not the caller.
std::vector<NodeId> readers(const JointView& view, NodeId id) {
  std::vector<NodeId> found;
  for (const NodeId user : view.users_of(id)) {
    const bool is_view = view.storage(user) == view.storage(id);
    if (view.is_call(user) && !is_view && !view.is_symbol(user)) found.push_back(user);
  }
  return found;
}

graph::TensorMeta copy_of(const graph::TensorMeta& tensor, int32_t storage) {
  graph::TensorMeta copy = tensor;
  copy.storage = storage;
  copy.offset = graph::SymExpr(0);
  return copy;
}

int32_t free_storage(const JointView& view) {
  int32_t next = 0;
  for (const NodeId id : view.order) next = std::max(next, view.storage(id) + 1);
  return next;
}

/// A joint graph has its placeholders first, so a copy of one stands behind the last.
NodeId behind(const Graph& joint, NodeId id) {
  NodeId next = joint[id].next;
  while (next != kNoNode && joint[next].kind == graph::NodeKind::kPlaceholder) next = joint[next].next;
  return next;
}

void take_snapshot(Graph& joint, const JointView& view, NodeId id, int32_t storage) {
  const std::vector<NodeId> reading = readers(view, id);
  if (reading.empty()) return;
  const NodeId copy = add_call(joint, behind(joint, id),
                               {view.node(id).name + std::string(kSnapshotSuffix),
                                "aten.clone.default",
                                {graph::Argument::node(id)},
                                graph::Value(copy_of(*view.node(id).tensor(), storage))});
  graph::NodeMeta& meta = joint.meta(copy);
  meta.partitioner_tag = graph::PartitionerTag::kForward;
  meta.recompute = graph::CheckpointPolicy::kMustSave;
  joint.replace_uses(id, copy, reading);
}

/// Whether a write to the memory comes between the copy and one of its readers.
bool is_written_between(const JointView& view, NodeId copy) {
  const int32_t storage = view.storage(view.inputs_of(copy).front());
  int32_t last = -1;
  for (const NodeId user : view.users_of(copy)) last = std::max(last, view.position[static_cast<size_t>(user)]);
  for (int32_t place = view.position[static_cast<size_t>(copy)] + 1; place < last; ++place)
    if (written_storage(view, view.order[static_cast<size_t>(place)]) == storage) return true;
  return false;
}

}  // namespace

bool is_snapshot(const Node& node) {
  return node.is_call("aten.clone.default") && node.name.ends_with(kSnapshotSuffix);
}

bool take_snapshots(Graph& joint) {
  const JointView view = view_joint(joint, false);
  const std::set<int32_t> storages = overwritten_storages(view);
  if (storages.empty()) return false;
  const size_t before = joint.size();
  int32_t storage = free_storage(view);
  for (const NodeId id : view.order) {
    const bool is_value = view.node(id).tensor() && view.role_of(id) != Role::kOutput && !view.info(id).is_mutable;
    if (is_value && storages.contains(view.storage(id)) && !is_snapshot(view.node(id)))
      take_snapshot(joint, view, id, storage++);
  }
  declare_operators(joint);
  return joint.size() != before;
}

void drop_snapshots(Graph& joint, const std::vector<NodeId>& saved) {
  const auto is_one = [&](NodeId id) { return is_snapshot(joint[id]); };
  if (std::ranges::none_of(joint.order(), is_one)) return;
  const JointView view = view_joint(joint, false);
  for (const NodeId id : view.order) {
    if (!is_snapshot(view.node(id)) || std::ranges::find(saved, id) != saved.end()) continue;
    if (is_written_between(view, id)) continue;
    joint.replace_all_uses(id, view.inputs_of(id).front());
    joint.erase(id);
  }
}

}  // namespace sapwood::partition
