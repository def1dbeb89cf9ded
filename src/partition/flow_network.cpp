#include "partition/flow_network.h"

#include "base/error.h"

namespace sapwood::partition {
namespace {

using graph::NodeId;

constexpr int32_t kSource = 0;
constexpr int32_t kSink = 1;

}  // namespace

FlowNetwork::FlowNetwork(const JointView& view, const Classification& classes, const Bans& bans,
                         const std::vector<Weight>& weights)
    : view_(view),
      classes_(classes),
      bans_(bans),
      weights_(weights),
      flow_(static_cast<int32_t>(2 + 2 * view.order.size())) {
  for (const NodeId id : view_.order)
    if (view_.role_of(id) != Role::kOutput) add_node(id);
}

void FlowNetwork::add(Kind kind, NodeId id, int32_t from, int32_t to) {
  const Weight& weight = weights_[static_cast<size_t>(id)];
  const bool infinite = kind != Kind::kSave || weight.infinite;
  if (infinite) {
    flow_.add_infinite_edge(from, to);
  } else {
    flow_.add_edge(from, to, weight.capacity);
  }
  edges_.push_back({kind, id, infinite ? 0 : weight.capacity, infinite});
}

void FlowNetwork::add_node(NodeId id) {
  // Bans stay in force for values whose other edges are left out below.
  if (bans_.contains(id)) add(Kind::kBan, id, kSource, in_vertex(id));
  if (classes_.in_closure(id)) return add(Kind::kComputedInBackward, id, in_vertex(id), kSink);
  if (classes_.is_backward(id)) add(Kind::kReturned, id, out_vertex(id), kSink);
  if (view_.must_recompute(id)) return add(Kind::kMarkedRecompute, id, in_vertex(id), kSink);
  add(Kind::kSave, id, in_vertex(id), out_vertex(id));
  for (const NodeId user : view_.users_of(id)) add(Kind::kRead, id, out_vertex(id), in_vertex(user));
}

std::string FlowNetwork::vertex_name(int32_t vertex) const {
  if (vertex == kSource) return "source";
  if (vertex == kSink) return "sink";
  const NodeId id = view_.order[static_cast<size_t>((vertex - 2) / 2)];
  return view_.node(id).name + (vertex % 2 == 0 ? "_in" : "_out");
}

std::vector<FlowNetwork::Edge> FlowNetwork::edges() const {
  std::vector<Edge> named;
  for (size_t i = 0; i < edges_.size(); ++i) {
    const auto edge = static_cast<int32_t>(i);
    named.push_back(
        {vertex_name(flow_.from(edge)), vertex_name(flow_.to(edge)), edges_[i].capacity, edges_[i].infinite});
  }
  return named;
}

std::string FlowNetwork::rule_text(int32_t edge) const {
  const EdgeInfo& info = edges_[static_cast<size_t>(edge)];
  switch (info.kind) {
    case Kind::kBan:
      return bans_.text(info.node);
    case Kind::kSave:
      return "cannot be saved: " + std::string(weights_[static_cast<size_t>(info.node)].why_not);
    case Kind::kComputedInBackward:
      return "is computed in the backward";
    case Kind::kReturned:
      return "is returned by the backward";
    case Kind::kMarkedRecompute:
      return "is marked for recomputation by a checkpoint policy";
    case Kind::kRead:
      return "reads '" + view_.node(info.node).name + "'";
  }
  return "";
}

std::optional<Conflict> FlowNetwork::conflict() const {
  const auto path = flow_.infinite_path(kSource, kSink);
  if (!path) return std::nullopt;
  Conflict found;
  found.path = "source";
  for (const int32_t edge : *path) {
    found.path += " -> " + vertex_name(flow_.to(edge));
    const EdgeInfo& info = edges_[static_cast<size_t>(edge)];
    // The rule of an edge between two values belongs to the reader, any other to the value itself.
    const NodeId node =
        info.kind == Kind::kRead ? view_.order[static_cast<size_t>((flow_.to(edge) - 2) / 2)] : info.node;
    const std::string& name = view_.node(node).name;
    if (found.steps.empty() || found.steps.back().node != name) found.steps.push_back({name, {}});
    found.steps.back().rules.push_back(rule_text(edge));
  }
  return found;
}

FlowNetwork::Cut FlowNetwork::solve() {
  if (const auto found = conflict()) throw_unsupported("partition", found->text());
  Cut cut;
  cut.value = flow_.solve(kSource, kSink);
  const std::vector<uint8_t> sink_side = flow_.sink_side(kSink);
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (edges_[i].kind != Kind::kSave) continue;
    const auto edge = static_cast<int32_t>(i);
    if (!sink_side[static_cast<size_t>(flow_.from(edge))] && sink_side[static_cast<size_t>(flow_.to(edge))])
      cut.saved.push_back(edges_[i].node);
  }
  return cut;
}

}  // namespace sapwood::partition
