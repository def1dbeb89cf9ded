#include "partition/single_graph_remat.h"

#include <algorithm>

#include "base/error.h"
#include "ops/op_table.h"
#include "partition/joint_view.h"
#include "partition/remap.h"
#include "partition/storage_numbers.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::PartitionerTag;

constexpr std::string_view kStage = "single-graph remat";
constexpr std::string_view kPhase = "phase";

bool is_annotated(const Node& node) {
  return std::ranges::any_of(node.meta->custom, [](const auto& entry) {
    const auto* text = entry.second.template as<std::string>();
    return entry.first == kPhase && text && *text == "backward";
  });
}

/// Indices into the graph order: [begin, end).
struct Region {
  size_t begin = 0;
  size_t end = 0;
};

void refuse_random(const JointView& view) {
  for (const NodeId id : view.order)
    if (view.must_recompute(id) && view.draws(id))
      throw_unsupported(kStage, "'" + view.node(id).name + "' (" + view.node(id).target +
                                    ") draws random numbers and is marked for recomputation, which would draw others; "
                                    "move it out of the checkpointed region, or partition a joint graph");
}

std::vector<Region> find_regions(const JointView& view, bool annotated) {
  std::vector<Region> regions;
  bool inside = false;
  for (size_t i = 0; i < view.order.size(); ++i) {
    const Node& node = view.node(view.order[i]);
    const bool backward = annotated ? is_annotated(node) : node.meta->autograd_backward;
    if (backward && !inside) regions.push_back({i, i});
    if (backward) regions.back().end = i + 1;
    inside = backward;
  }
  return regions;
}

/// Whether a value from before the region is to be computed again in it.
bool is_recomputed_in(const JointView& view, const Region& region, NodeId id) {
  return view.is_call(id) && view.must_recompute(id) &&
         static_cast<size_t>(view.position[static_cast<size_t>(id)]) < region.begin;
}

bool needs_recomputation(const JointView& view, const Region& region) {
  for (size_t i = region.begin; i < region.end; ++i)
    for (const NodeId read : view.inputs_of(view.order[i]))
      if (is_recomputed_in(view, region, read)) return true;
  return false;
}

/// The region to recompute in; an empty one if there is none.
Region choose_region(const JointView& view) {
  const bool annotated = std::ranges::any_of(view.order, [&](NodeId id) { return is_annotated(view.node(id)); });
  std::vector<Region> regions = find_regions(view, annotated);
  const auto first_node = [&](const Region& region) { return "'" + view.node(view.order[region.begin]).name + "'"; };
  if (annotated && regions.size() > 1)
    throw_user(kStage, "the nodes annotated with the phase backward are " + std::to_string(regions.size()) +
                           " regions, of which the second starts at " + first_node(regions[1]) +
                           "; annotate one region without gaps");
  std::erase_if(regions, [&](const Region& region) { return !needs_recomputation(view, region); });
  if (regions.size() > 1)
    throw_unsupported(kStage, std::to_string(regions.size()) +
                                  " backward regions need recomputation, of which the "
                                  "second starts at " +
                                  first_node(regions[1]) + "; annotate the nodes of one with the phase backward");
  return regions.empty() ? Region{} : regions.front();
}

class Rematerializer {
 public:
  Rematerializer(Graph& graph, const JointView& view, Region region)
      : graph_(graph),
        view_(view),
        region_(region),
        storages_(graph),
        copies_(graph.id_bound(), kNoNode),
        gathered_(graph.id_bound(), 0) {}

  /// Refuses what can't be copied; changes nothing.
  void plan() {
    for (size_t i = region_.begin; i < region_.end; ++i) {
      fresh_.push_back(gather(view_.order[i]));
      for (const NodeId id : fresh_.back()) refuse_effect(id);
    }
  }

  std::vector<std::string> apply() {
    for (size_t i = region_.begin; i < region_.end; ++i) {
      const NodeId reader = view_.order[i];
      for (const NodeId id : fresh_[i - region_.begin]) copy_before(id, reader);
    }
    graph_.set_insertion_point(kNoNode);
    for (const std::vector<NodeId>& group : fresh_)
      for (const NodeId id : group) redirect_readers(id);
    return std::move(names_);
  }

 private:
  /// What has to be copied for this reader and wasn't yet, in graph order.
  std::vector<NodeId> gather(NodeId reader) {
    std::vector<NodeId> found;
    const auto reads = view_.inputs_of(reader);
    std::vector<NodeId> pending(reads.begin(), reads.end());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (gathered_[static_cast<size_t>(id)] || !is_recomputed_in(view_, region_, id)) continue;
      gathered_[static_cast<size_t>(id)] = 1;
      found.push_back(id);
      pending.insert(pending.end(), view_.inputs_of(id).begin(), view_.inputs_of(id).end());
    }
    std::ranges::sort(found, {}, [&](NodeId id) { return view_.position[static_cast<size_t>(id)]; });
    return found;
  }

  NodeId newest(NodeId id) const {
    const NodeId copy = copies_[static_cast<size_t>(id)];
    return copy == kNoNode ? id : copy;
  }

  void refuse_effect(NodeId id) const {
    const ops::OpInfo& info = view_.info(id);
    if (info.is_mutable || (info.effect && !view_.is_collective(id)))
      throw_unsupported(kStage, "'" + view_.node(id).name + "' (" + view_.node(id).target +
                                    ") is marked for recomputation, but has an effect that mustn't happen twice; move "
                                    "it out of the checkpointed region");
  }

  void copy_before(NodeId id, NodeId reader) {
    const ops::OpInfo& info = view_.info(id);
    Node copy = graph_[id];
    copy.users.clear();
    copy.name = graph_.unique_name(copy.name + "_recomputed");
    graph::NodeMeta& meta = copy.meta.edit();
    meta.autograd_backward = true;
    if (meta.partitioner_tag == PartitionerTag::kForward) meta.partitioner_tag = PartitionerTag::kBackward;
    // The region stays one region.
    if (is_annotated(graph_[reader]) && !is_annotated(copy))
      meta.custom.emplace_back(std::string(kPhase), graph::Argument("backward"));
    remap_nodes(copy, [&](NodeId old) { return newest(old); });
    if (copy.val) storages_.renew(copy.val.edit(), info.is_view || view_.is_view(id) || view_.is_getitem(id));
    names_.push_back(copy.name);
    graph_.set_insertion_point(reader);
    copies_[static_cast<size_t>(id)] = graph_.add(std::move(copy));
  }

  /// Lets the readers in the region read the copy, which comes before the first of them.
  void redirect_readers(NodeId id) {
    std::vector<NodeId> readers;
    for (const NodeId user : view_.users_of(id)) {
      const auto position = static_cast<size_t>(view_.position[static_cast<size_t>(user)]);
      if (position >= region_.begin && position < region_.end) readers.push_back(user);
    }
    graph_.replace_uses(id, newest(id), readers);
  }

  Graph& graph_;
  const JointView& view_;
  Region region_;
  StorageNumbers storages_;
  std::vector<std::vector<NodeId>> fresh_;  // by node of the region: what is copied before it
  std::vector<NodeId> copies_;              // by id of the original
  std::vector<uint8_t> gathered_;           // by id of the original
  std::vector<std::string> names_;
};

/// As in a partition, a functional collective that nothing reads is dropped.
bool can_drop(const Graph& graph, const Node& node) {
  if (!node.users.empty() || node.meta->impure) return false;
  if (node.kind == NodeKind::kGetAttr) return true;
  if (node.kind != NodeKind::kCallFunction) return false;
  const ops::OpInfo info = ops::describe(graph, node);
  return info.is_pure() || (node.target.starts_with("_c10d_functional.") && !info.is_mutable);
}

std::vector<std::string> drop_dead_nodes(Graph& graph) {
  std::vector<std::string> dropped;
  for (NodeId id = graph.last(); id != kNoNode;) {
    const NodeId previous = graph[id].prev;
    if (can_drop(graph, graph[id])) {
      dropped.push_back(graph[id].name);
      graph.erase(id);
    }
    id = previous;
  }
  std::ranges::reverse(dropped);
  return dropped;
}

void raise_getitems(Graph& graph) {
  const std::vector<NodeId> order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!graph[*it].is_call("operator.getitem")) continue;
    const Node& parent = graph[graph.inputs(*it).front()];
    if (parent.kind != NodeKind::kPlaceholder && parent.next != *it) graph.move_before(*it, parent.next);
  }
}

}  // namespace

SingleGraphRemat rematerialize_single_graph(Graph& graph) {
  if (!has_recompute_marks(graph)) return {};
  JointView view = view_joint(graph, false);
  refuse_random(view);
  apply_tag_rules(view, /*save_region_inputs=*/true);
  const Region region = choose_region(view);
  if (region.begin == region.end) return {};
  Rematerializer rematerializer(graph, view, region);
  rematerializer.plan();
  for (const NodeId id : view.order)
    if (const auto policy = view.policy[static_cast<size_t>(id)]; policy != graph[id].meta->recompute)
      graph.meta(id).recompute = policy;
  SingleGraphRemat result;
  result.recomputed = rematerializer.apply();
  result.dropped = drop_dead_nodes(graph);
  raise_getitems(graph);
  return result;
}

}  // namespace sapwood::partition
