#include "partition/offload.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "ops/op_table.h"
#include "partition/elementwise_layout.h"
#include "partition/joint_view.h"
#include "partition/prefetch.h"
#include "partition/storage_numbers.h"

namespace sapwood::partition {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;
using graph::TensorMeta;

constexpr std::string_view kStage = "offload";
constexpr std::string_view kHostPrefix = "cpu_offload_";
constexpr std::string_view kDevicePrefix = "gpu_reload_";

void check(const OffloadOptions& options) {
  if (!(options.bandwidth_gb_per_s > 0))
    throw_user(kStage, "bandwidth_gb_per_s is " + std::to_string(options.bandwidth_gb_per_s) +
                           "; give the gigabytes per second between device and host");
  const char* alone = options.legacy_streams ? "legacy_streams" : nullptr;
  if (options.sink_wait) alone = "sink_wait";
  if (options.prefetch) alone = "prefetch";
  if (alone && !options.separate_stream)
    throw_user(kStage,
               std::string(alone) + " needs separate_stream: without it copies don't run beside the computation");
}

/// Where a value is read for the last time, through views and whatever else shares its memory.
class LastUses {
 public:
  explicit LastUses(const Graph& graph) : graph_(graph), positions_(graph_positions(graph)) {
    for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next)
      if (graph[id].tensor() && graph[id].tensor()->storage) sharing_[*graph[id].tensor()->storage].push_back(id);
  }

  /// The value itself if only the output reads it.
  NodeId of(NodeId id) const {
    std::vector<NodeId> pending{id};
    std::unordered_set<NodeId> seen{id};
    const auto visit = [&](NodeId next) {
      if (seen.insert(next).second) pending.push_back(next);
    };
    const TensorMeta* tensor = graph_[id].tensor();
    if (tensor && tensor->storage) std::ranges::for_each(sharing_.at(*tensor->storage), visit);
    NodeId last = id;
    while (!pending.empty()) {
      const NodeId current = pending.back();
      pending.pop_back();
      for (const NodeId user : graph_[current].users) {
        if (graph_[user].kind == NodeKind::kOutput) continue;
        if (position(user) > position(last)) last = user;
        if (is_view(user)) visit(user);
      }
    }
    return last;
  }

 private:
  int32_t position(NodeId id) const { return positions_[static_cast<size_t>(id)]; }
  bool is_view(NodeId id) const {
    const ops::OpInfo info = ops::describe(graph_, graph_[id]);
    return info.remat == ops::Remat::kView || info.is_view;
  }

  const Graph& graph_;
  std::vector<int32_t> positions_;
  std::unordered_map<int32_t, std::vector<NodeId>> sharing_;  // by storage
};

/// A tensor with the values of another one, on another device. The layout stays: what is offloaded is row-major.
class Copies {
 public:
  explicit Copies(const Graph& graph) : storages_(graph) {}

  TensorMeta of(const TensorMeta& tensor, const graph::Device& device) {
    TensorMeta copy = row_major_result(tensor, tensor.shape, tensor.dtype, storages_.fresh());
    copy.stride = tensor.stride;
    copy.device = device;
    return copy;
  }

 private:
  StorageNumbers storages_;
};

/// Numbers of streams and events, as the `streams` operators take them; forward and backward share one series.
struct StreamNumbers {
  int64_t next = 0;
  int64_t take() { return next++; }
};

std::string host_name(const std::string& name) { return std::string(kHostPrefix) + name; }
std::string device_name(const std::string& name) { return std::string(kDevicePrefix) + name; }

/// Adds calls before one node.
struct Site {
  Graph& graph;
  NodeId before;

  NodeId add(std::string name, std::string_view target, graph::ArgumentList args,
             graph::Shared<graph::Value> value) const {
    return add_call(graph, before, {std::move(name), std::string(target), std::move(args), std::move(value)});
  }
  void stream(std::string_view verb, graph::ArgumentList args, std::string name = {}) const {
    const std::string packet(verb);
    add(name.empty() ? packet + "_default" : std::move(name), "streams." + packet + ".default", std::move(args),
        graph::Value(graph::NoneValue{}));
  }
  NodeId copy(std::string name, NodeId id, const TensorMeta& result) const {
    const NodeId added = add(std::move(name), "prims.device_put.default", {Argument::node(id), Argument(result.device)},
                             graph::Value(result));
    graph.set_kwargs(added, {{"non_blocking", Argument(true)}});
    return added;
  }
};

class ForwardRewriter {
 public:
  ForwardRewriter(Graph& graph, const OffloadOptions& options, StreamNumbers& streams)
      : graph_(graph), options_(options), streams_(streams), copies_(graph), body_(first_behind_placeholders(graph)) {}

  /// Hands over the copies instead of the values.
  void run(const std::vector<NodeId>& chosen) {
    if (options_.legacy_streams) current_ = streams_.take(), transfer_ = streams_.take();
    std::unordered_map<NodeId, NodeId> on_host;
    const std::vector<NodeId> last_uses = last_uses_of(chosen);
    for (size_t i = 0; i < chosen.size(); ++i) on_host.emplace(chosen[i], offload(chosen[i], last_uses[i]));
    std::vector<NodeId> outputs = graph_.output_values();
    for (NodeId& id : outputs)
      if (const auto found = on_host.find(id); found != on_host.end()) id = found->second;
    set_outputs(graph_, outputs);
  }

 private:
  std::vector<NodeId> last_uses_of(const std::vector<NodeId>& chosen) const {
    const LastUses uses(graph_);
    std::vector<NodeId> last;
    for (const NodeId id : chosen) last.push_back(uses.of(id));
    return last;
  }

  NodeId offload(NodeId id, NodeId last_use) {
    const Site site{graph_, place_behind(graph_, last_use, body_)};
    const std::string name = host_name(graph_[id].name);
    const TensorMeta host = copies_.of(*graph_[id].tensor(), graph::Device{});
    if (options_.legacy_streams) return offload_on_stream(site, id, name, host);
    if (!options_.separate_stream) return site.copy(name, id, host);
    const NodeId copy = site.add("async_" + name, "ao.offload.default", {Argument::node(id)}, graph::Value(host));
    // The second argument keeps the device tensor until the copy is done.
    return site.add(name, "ao.wait_tensor.default", {Argument::node(copy), Argument::node(id)}, graph::Value(host));
  }

  NodeId offload_on_stream(const Site& site, NodeId id, const std::string& name, const TensorMeta& host) {
    const int64_t ready = streams_.take(), done = streams_.take();
    site.stream("record_event", {ready, current_});
    site.stream("fork", {current_, transfer_}, "stream_in_" + name);
    site.stream("wait_event", {ready, transfer_});
    site.stream("record_stream", {Argument::node(id), transfer_}, "record_stream_" + graph_[id].name);
    const NodeId copy = site.copy(name, id, host);
    site.stream("record_event", {done, transfer_});
    site.stream("join", {transfer_, current_}, "stream_out_" + name);
    site.stream("wait_event", {done, current_});
    return copy;
  }

  Graph& graph_;
  const OffloadOptions& options_;
  StreamNumbers& streams_;
  Copies copies_;
  NodeId body_;  // what came first behind the placeholders
  int64_t current_ = 0;
  int64_t transfer_ = 0;
};

class BackwardRewriter {
 public:
  BackwardRewriter(Graph& graph, const OffloadOptions& options, StreamNumbers& streams)
      : graph_(graph), options_(options), streams_(streams), copies_(graph) {}

  void run(const std::vector<std::string>& names) {
    const std::vector<int32_t> positions = graph_positions(graph_);
    if (options_.legacy_streams) current_ = streams_.take(), transfer_ = streams_.take();
    for (const std::string& name : names) reload(graph_.find(name), name, positions);
  }

 private:
  void reload(NodeId old, const std::string& name, const std::vector<int32_t>& positions) {
    const TensorMeta device = *graph_[old].tensor();
    const NodeId first = first_reader(graph_, old, positions);
    const NodeId host =
        add_placeholder_behind(graph_, old, host_name(name), graph::Value(copies_.of(device, graph::Device{})));
    const auto first_added = static_cast<NodeId>(graph_.id_bound());
    const NodeId back = reload_before({graph_, first}, host, device_name(name), copies_.of(device, device.device));
    graph_.replace_all_uses(old, back);
    graph_.erase(old);
    for (auto id = first_added; id < static_cast<NodeId>(graph_.id_bound()); ++id)
      graph_.meta(id).autograd_backward = true;
  }

  NodeId reload_before(const Site& site, NodeId host, const std::string& name, const TensorMeta& device) {
    if (options_.legacy_streams) return reload_on_stream(site, host, name, device);
    if (!options_.separate_stream) return site.copy(name, host, device);
    graph::ArgumentList args{Argument::node(host), Argument(device.device)};
    append_layout(device, args);
    const NodeId copy = site.add("async_" + name, "ao.reload.default", std::move(args), graph::Value(device));
    return site.add(name, "ao.wait_tensor.default", {Argument::node(copy), Argument::node(host)}, graph::Value(device));
  }

  /// Sizes and strides, if they are numbers. Without them the operator takes those of the host tensor, which are the
  /// same.
  static void append_layout(const TensorMeta& device, graph::ArgumentList& args) {
    graph::ArgumentList sizes, strides;
    for (size_t i = 0; i < device.shape.size(); ++i) {
      if (!device.shape[i].is_const() || !(*device.stride)[i].is_const()) return;
      sizes.emplace_back(device.shape[i].value());
      strides.emplace_back((*device.stride)[i].value());
    }
    args.push_back(Argument::list(std::move(sizes)));
    args.push_back(Argument::list(std::move(strides)));
  }

  NodeId reload_on_stream(const Site& site, NodeId host, const std::string& name, const TensorMeta& device) {
    const int64_t done = streams_.take();
    site.stream("fork", {current_, transfer_}, "stream_in_" + name);
    site.stream("wait_stream", {transfer_, current_});
    const NodeId copy = site.copy(name, host, device);
    site.stream("record_event", {done, transfer_});
    site.stream("join", {transfer_, current_}, "stream_out_" + name);
    site.stream("wait_event", {done, current_});
    return copy;
  }

  Graph& graph_;
  const OffloadOptions& options_;
  StreamNumbers& streams_;
  Copies copies_;
  int64_t current_ = 0;
  int64_t transfer_ = 0;
};

}  // namespace

int64_t OffloadReport::bytes() const {
  return std::accumulate(tensors.begin(), tensors.end(), int64_t{0},
                         [](int64_t sum, const OffloadedTensor& t) { return sum + t.bytes; });
}

OffloadReport offload_saved(ForwardBackward& pair, const PairFacts& facts, const OffloadOptions& options) {
  if (!options.enabled) return {};
  check(options);
  OffloadCandidates candidates = choose_offloads(pair, facts, options);
  OffloadReport report{{}, std::move(candidates.refused)};
  if (candidates.chosen.empty()) return report;
  std::vector<std::string> names;
  for (const NodeId id : candidates.chosen) {
    const graph::Node& node = pair.forward[id];
    names.push_back(node.name);
    report.tensors.push_back(
        {node.name, host_name(node.name), device_name(node.name), value_bytes(*node.val, pair.forward.symbols)});
  }
  StreamNumbers streams;
  ForwardRewriter(pair.forward, options, streams).run(candidates.chosen);
  BackwardRewriter(pair.backward, options, streams).run(names);
  if (options.sink_wait) sink_offload_waits(pair.forward);
  if (options.prefetch) prefetch_reloads(pair.backward, {options.bandwidth_gb_per_s, options.milliseconds});
  declare_operators(pair.forward);
  declare_operators(pair.backward);
  return report;
}

}  // namespace sapwood::partition
