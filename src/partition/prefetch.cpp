#include "partition/prefetch.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "partition/joint_view.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

constexpr std::string_view kStage = "offload";
constexpr std::string_view kOffload = "ao.offload.default";
constexpr std::string_view kReload = "ao.reload.default";
constexpr std::string_view kWait = "ao.wait_tensor.default";
constexpr std::string_view kCopy = "prims.device_put.default";
constexpr std::string_view kWaitEvent = "streams.wait_event.default";

NodeId first_argument(const Node& node) {
  const auto* read = node.args.empty() ? nullptr : node.args.front().as<graph::NodeArg>();
  return read ? read->id : kNoNode;
}

bool is_copy_to(const Node& node, bool host) {
  if (!node.is_call(kCopy) || node.args.size() < 2) return false;
  const auto* device = node.args[1].as<graph::Device>();
  return device && (device->type == "cpu") == host;
}

/// The node `steps` behind (or before) another one; kNoNode past an end.
NodeId neighbour(const Graph& graph, NodeId id, int steps) {
  for (; steps > 0 && id != kNoNode; --steps) id = graph[id].next;
  for (; steps < 0 && id != kNoNode; ++steps) id = graph[id].prev;
  return id;
}

[[noreturn]] void throw_misplaced(const Node& copy, std::string_view expected, int steps) {
  throw_user(kStage, "expected " + std::string(expected) + " " + std::to_string(std::abs(steps)) + " nodes " +
                         (steps > 0 ? "behind" : "before") + " the copy '" + copy.name +
                         "'; sink and prefetch directly after offloading");
}

NodeId require(const Graph& graph, NodeId copy, std::string_view target, int steps) {
  const NodeId id = neighbour(graph, copy, steps);
  if (id == kNoNode || !graph[id].is_call(target)) throw_misplaced(graph[copy], target, steps);
  return id;
}

/// A copy back: what moves together, and the time that it takes.
struct Reload {
  std::vector<NodeId> group;
  double milliseconds = 0;
};

/// By the node that yields the tensor.
using Reloads = std::unordered_map<NodeId, Reload>;

Reload stream_group(const Graph& graph, NodeId copy) {
  Reload reload;
  reload.group = {
      require(graph, copy, "streams.fork.default", -2), require(graph, copy, "streams.wait_stream.default", -1), copy,
      require(graph, copy, "streams.record_event.default", 1), require(graph, copy, "streams.join.default", 2)};
  require(graph, copy, kWaitEvent, 3);
  return reload;
}

bool has_wait(const Graph& graph, NodeId reload) {
  return std::ranges::any_of(graph[reload].users, [&](NodeId user) { return graph[user].is_call(kWait); });
}

Reloads find_reloads(const Graph& graph, double bandwidth) {
  Reloads reloads;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) {
    const Node& node = graph[id];
    const NodeId source = first_argument(node);
    if (source == kNoNode || !graph[source].val) continue;
    Reload reload;
    if (node.is_call(kReload) && has_wait(graph, id))
      reload.group = {id};
    else if (is_copy_to(node, false) && graph[source].kind == NodeKind::kPlaceholder &&
             node.name.starts_with("gpu_reload_"))
      reload = stream_group(graph, id);
    else
      continue;
    reload.milliseconds = transfer_milliseconds(value_bytes(*graph[source].val, graph.symbols), bandwidth);
    reloads.emplace(id, std::move(reload));
  }
  return reloads;
}

class Prefetcher {
 public:
  Prefetcher(Graph& graph, const PrefetchModel& model)
      : graph_(graph), model_(model), reloads_(find_reloads(graph, model.bandwidth_gb_per_s)) {
    for (const auto& [copy, reload] : reloads_) moving_.insert(reload.group.begin(), reload.group.end());
  }

  void run() {
    const std::vector<NodeId> order = graph_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph_[*it];
      if (node.kind == NodeKind::kPlaceholder) break;
      if (const auto found = reloads_.find(*it); found != reloads_.end())
        queue_.push_back(found->second);
      else if (node.kind == NodeKind::kCallFunction && !moving_.contains(*it))
        spend(*it);
    }
    start_the_rest();
  }

 private:
  void spend(NodeId call) {
    if (queue_.empty()) return;
    if (model_.milliseconds) queue_.front().milliseconds -= model_.milliseconds(graph_, call);
    if (queue_.front().milliseconds > 0) return;
    place(queue_.front(), call);
    queue_.pop_front();
  }

  void place(const Reload& reload, NodeId before) {
    for (const NodeId id : reload.group) graph_.move_before(id, before);
  }

  /// The copy that the queue got last is the first one that is needed.
  void start_the_rest() {
    if (queue_.empty()) return;
    NodeId place_at = graph_.first();
    while (graph_[place_at].kind == NodeKind::kPlaceholder) place_at = graph_[place_at].next;
    for (const Reload& reload : queue_) {
      if (std::ranges::find(reload.group, place_at) != reload.group.end())
        place_at = neighbour(graph_, reload.group.back(), 1);  // it is there already
      place(reload, place_at);
      place_at = reload.group.front();
    }
  }

  Graph& graph_;
  const PrefetchModel& model_;
  Reloads reloads_;
  std::unordered_set<NodeId> moving_;
  std::deque<Reload> queue_;
};

}  // namespace

double transfer_milliseconds(int64_t bytes, double bandwidth_gb_per_s) {
  constexpr double kGigabyte = 1024.0 * 1024.0 * 1024.0;
  return static_cast<double>(bytes) / kGigabyte * 1000.0 / bandwidth_gb_per_s;
}

void sink_offload_waits(Graph& forward) {
  std::vector<NodeId> waits;
  for (NodeId id = forward.first(); id != kNoNode; id = forward[id].next) {
    const Node& node = forward[id];
    if (node.is_call(kWait) && first_argument(node) != kNoNode && forward[first_argument(node)].is_call(kOffload))
      waits.push_back(id);
    if (is_copy_to(node, true) && node.name.starts_with("cpu_offload_"))
      waits.push_back(require(forward, id, kWaitEvent, 3));
  }
  for (const NodeId id : waits) forward.move_before(id, forward.output());
}

void prefetch_reloads(Graph& backward, const PrefetchModel& model) { Prefetcher(backward, model).run(); }

void check_transfers(const Graph& graph) {
  std::unordered_set<NodeId> pending;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) {
    const Node& node = graph[id];
    if (node.is_call(kOffload) || node.is_call(kReload)) pending.insert(id);
    if (!node.is_call(kWait) || pending.erase(first_argument(node)) > 0) continue;
    const NodeId source = first_argument(node);
    throw_user(kStage, "no pending transfer for '" + (source == kNoNode ? "None" : graph[source].name) + "', which '" +
                           node.name +
                           "' waits for; every ao.wait_tensor follows one ao.offload or "
                           "ao.reload");
  }
}

}  // namespace sapwood::partition
