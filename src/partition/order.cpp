#include <algorithm>

#include "partition/extract.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;

/// Rebuilds the order of a backward, pulling ancestors in on demand.
class OnDemandOrder {
 public:
  OnDemandOrder(const JointView& view, const Selection& backward)
      : view_(view), place_(view.role.size(), -1), done_(view.role.size(), 0) {
    for (size_t i = 0; i < backward.nodes.size(); ++i)
      place_[static_cast<size_t>(backward.nodes[i])] = static_cast<int32_t>(i);
    for (const NodeId id : backward.inputs) done_[static_cast<size_t>(id)] = 1;
  }

  /// Appends `roots` and whatever they need that isn't there yet, in the old order.
  void insert(const std::vector<NodeId>& roots) {
    std::vector<NodeId> pending = roots;
    std::vector<NodeId> fresh;
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (id == kNoNode || done_[static_cast<size_t>(id)]) continue;
      done_[static_cast<size_t>(id)] = 1;
      fresh.push_back(id);
      const auto reads = view_.inputs_of(id);
      pending.insert(pending.end(), reads.begin(), reads.end());
    }
    std::ranges::sort(fresh, {}, [&](NodeId id) { return place_[static_cast<size_t>(id)]; });
    ordered.insert(ordered.end(), fresh.begin(), fresh.end());
  }

  int32_t place(NodeId id) const { return place_[static_cast<size_t>(id)]; }

  std::vector<NodeId> ordered;

 private:
  const JointView& view_;
  std::vector<int32_t> place_;
  std::vector<uint8_t> done_;
};

/// A list of nodes in which any node can be moved in constant time.
class Chain {
 public:
  Chain(size_t bound, const std::vector<NodeId>& nodes) : links_(bound + 1), head_(bound) {
    size_t last = head_;
    for (const NodeId id : nodes) {
      const auto at = static_cast<size_t>(id);
      connect(last, at);
      links_[at].here = true;
      last = at;
    }
    connect(last, head_);
  }

  /// To the place behind `anchor`; to the front if that isn't in the list.
  void move_behind(NodeId id, NodeId anchor) {
    const auto at = static_cast<size_t>(id);
    const auto wanted = static_cast<size_t>(anchor);
    const size_t before = links_[wanted].here ? wanted : head_;
    if (before == at || links_[before].next == at) return;
    connect(links_[at].previous, links_[at].next);
    const size_t behind = links_[before].next;
    connect(before, at);
    connect(at, behind);
  }

  std::vector<NodeId> nodes() const {
    std::vector<NodeId> list;
    for (size_t at = links_[head_].next; at != head_; at = links_[at].next) list.push_back(static_cast<NodeId>(at));
    return list;
  }

 private:
  struct Link {
    size_t previous = 0;
    size_t next = 0;
    bool here = false;
  };

  void connect(size_t first, size_t second) {
    links_[first].next = second;
    links_[second].previous = first;
  }

  std::vector<Link> links_;
  size_t head_;  ///< stands before the first and behind the last
};

}  // namespace

void order_like_autograd(const JointView& view, Selection& backward) {
  OnDemandOrder order(view, backward);
  const auto end = static_cast<int32_t>(backward.nodes.size());
  int32_t start = end;
  bool tangent_is_read = false;
  for (const NodeId tangent : backward.inputs) {
    if (view.role_of(tangent) != Role::kTangent || !backward.is_read(tangent)) continue;
    tangent_is_read = true;
    for (const NodeId user : view.users_of(tangent))
      if (order.place(user) >= 0) start = std::min(start, order.place(user));
  }
  if (!tangent_is_read) return;
  for (int32_t i = 0; i < start; ++i) {
    const NodeId id = backward.nodes[static_cast<size_t>(i)];
    if (view.node(id).target == "aten.copy_.default") order.insert({id});
  }
  for (int32_t i = start; i < end; ++i) order.insert({backward.nodes[static_cast<size_t>(i)]});
  order.insert(backward.outputs);
  backward.nodes = std::move(order.ordered);
  std::vector<uint8_t> kept(backward.kept.size(), 0);
  for (const NodeId id : backward.inputs) kept[static_cast<size_t>(id)] = 1;
  for (const NodeId id : backward.nodes) kept[static_cast<size_t>(id)] = 1;
  backward.kept = std::move(kept);
}

void raise_getitems(const JointView& view, Selection& selection) {
  if (std::ranges::none_of(selection.nodes, [&](NodeId id) { return view.is_getitem(id); })) return;
  Chain chain(view.role.size(), selection.nodes);
  for (auto it = selection.nodes.rbegin(); it != selection.nodes.rend(); ++it)
    if (view.is_getitem(*it)) chain.move_behind(*it, view.inputs_of(*it).front());
  selection.nodes = chain.nodes();
}

void drop_dead_collectives(const JointView& view, Selection& selection) {
  std::vector<NodeId> remaining;
  for (auto it = selection.nodes.rbegin(); it != selection.nodes.rend(); ++it) {
    if (view.is_call(*it) && view.is_collective(*it) && !selection.is_read(*it)) {
      selection.kept[static_cast<size_t>(*it)] = 0;
      for (const NodeId read : view.inputs_of(*it)) --selection.uses[static_cast<size_t>(read)];
      continue;
    }
    remaining.push_back(*it);
  }
  std::ranges::reverse(remaining);
  selection.nodes = std::move(remaining);
}

}  // namespace sapwood::partition
