#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_set>

#include "partition/bans.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

/// Longest stretch of the forward, in nodes, that one fused chain may span.
constexpr int32_t kLongestChain = 100;

template <typename T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

/// A forward node on the way to the first use that can't be fused: its place, and whether it fuses with the node it was
/// reached from. In one number, so that the heap takes the earliest place first and of equal places the unfusible.
int64_t step_key(int32_t place, bool fusible) { return int64_t{place} * 2 + (fusible ? 1 : 0); }

/// The place of the first node, walking forward from `start`, that can't be fused with the node before it; `limit` if
/// there is none up to there.
int32_t first_unfusible(const JointView& view, const Classification& classes, const std::vector<NodeId>& start,
                        int32_t limit) {
  MinHeap<int64_t> heap;
  std::unordered_set<int64_t> queued;
  const auto push = [&](int64_t key) {
    if (queued.insert(key).second) heap.push(key);
  };
  for (const NodeId id : start) push(step_key(classes.order_of(id), true));
  while (!heap.empty()) {
    const int64_t key = heap.top();
    heap.pop();
    const auto place = static_cast<int32_t>(key / 2);
    if (key % 2 == 0) return place;
    const NodeId current = classes.forward[static_cast<size_t>(place)];
    for (const NodeId user : view.users_of(current)) {
      if (!classes.is_forward(user) || classes.order_of(user) > limit) continue;
      push(step_key(classes.order_of(user), view.can_fuse(current, user)));
    }
  }
  return limit;
}

std::vector<NodeId> forward_users(const JointView& view, const Classification& classes, NodeId id) {
  std::vector<NodeId> users;
  for (const NodeId user : view.users_of(id))
    if (classes.is_forward(user)) users.push_back(user);
  return users;
}

}  // namespace

void ban_values_used_far_apart(const JointView& view, const Classification& classes, const Banner& banner) {
  for (const NodeId used : classes.forward) {
    const std::vector<NodeId> users = forward_users(view, classes, used);
    if (users.empty()) continue;
    int32_t last = -1;
    for (const NodeId user : users) last = std::max(last, classes.order_of(user));
    const int32_t unfusible = first_unfusible(view, classes, users, last);
    for (const NodeId user : users) {
      if (classes.order_of(user) <= unfusible || !view.can_fuse(used, user) || banner.is_banned(user)) continue;
      banner.ban(user, BanReason::kUsedFarApart);
    }
  }
}

void ban_long_fusible_chains(const JointView& view, const Classification& classes, const Banner& banner) {
  std::vector<uint8_t> visited(view.role.size(), 0);
  for (const NodeId start : classes.forward) {
    const int32_t first = classes.order_of(start);
    MinHeap<int32_t> chain;
    chain.push(first);
    while (!chain.empty()) {
      const int32_t place = chain.top();
      chain.pop();
      const NodeId current = classes.forward[static_cast<size_t>(place)];
      if (visited[static_cast<size_t>(current)]) continue;
      visited[static_cast<size_t>(current)] = 1;
      if (place > first + kLongestChain && chain.empty()) {
        banner.ban(current, BanReason::kLongChain);
        break;
      }
      for (const NodeId user : view.users_of(current))
        if (classes.is_forward(user) && view.can_fuse(current, user) && !banner.is_banned(user))
          chain.push(classes.order_of(user));
    }
  }
}

}  // namespace sapwood::partition
