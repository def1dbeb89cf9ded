#include "partition/tag_rules.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::NodeId;
using graph::PartitionerTag;

constexpr std::string_view kCopyInto = "aten.copy_.default";

void mark_save(JointView& view, NodeId id) { view.policy[static_cast<size_t>(id)] = CheckpointPolicy::kMustSave; }

bool any_user_recomputed(const JointView& view, NodeId id) {
  return std::ranges::any_of(view.users_of(id), [&](NodeId user) { return view.must_recompute(user); });
}

bool feeds_later_region(const JointView& view, NodeId id) {
  const auto& region = view.node(id).meta->ac_graph_id;
  return region && std::ranges::any_of(view.users_of(id), [&](NodeId user) {
           const auto& other = view.node(user).meta->ac_graph_id;
           return view.must_recompute(user) && other && *other > *region;
         });
}

/// Takes one tensor out of a region's operator with several results.
bool is_part_of_region_result(const JointView& view, NodeId id) {
  if (!view.is_getitem(id) || view.inputs_of(id).empty()) return false;
  const graph::NodeMeta& source = *view.node(view.inputs_of(id).front()).meta;
  return !source.tensor_meta && source.ac_graph_id;
}

void settle_region_boundaries(JointView& view, bool save_region_inputs) {
  for (const NodeId id : view.order) {
    const graph::NodeMeta& meta = *view.node(id).meta;
    if (view.must_recompute(id)) {
      const bool hooked = meta.has_backward_hook && !any_user_recomputed(view, id);
      if (feeds_later_region(view, id) || hooked) mark_save(view, id);
    } else if (save_region_inputs && !meta.ac_graph_id && any_user_recomputed(view, id) &&
               !is_part_of_region_result(view, id)) {
      mark_save(view, id);
    }
  }
}

void save_effect_results(JointView& view, NodeId id) {
  for (const NodeId user : view.users_of(id)) {
    if (!view.is_getitem(user)) continue;
    save_effect_results(view, user);
    const auto& val = view.node(user).val;
    if (!val || !(val->as<graph::TupleValue>() || val->as<graph::ListValue>())) mark_save(view, user);
  }
}

void save_sources_of_double_writes(JointView& view) {
  std::set<NodeId> written_in_backward;
  for (auto it = view.order.rbegin(); it != view.order.rend(); ++it) {
    const graph::Node& node = view.node(*it);
    if (node.kind == graph::NodeKind::kOutput) continue;
    if (node.target != kCopyInto) break;  // such writes come last
    const auto* target = node.args.size() < 2 ? nullptr : node.args[0].as<graph::NodeArg>();
    const auto* source = node.args.size() < 2 ? nullptr : node.args[1].as<graph::NodeArg>();
    if (!target || !source) continue;
    if (node.meta->partitioner_tag == PartitionerTag::kMustBeInBackward) written_in_backward.insert(target->id);
    const bool forward = node.meta->partitioner_tag == PartitionerTag::kMustBeInForward;
    if (forward && written_in_backward.contains(target->id)) mark_save(view, source->id);
  }
}

}  // namespace

bool has_recompute_marks(const graph::Graph& joint) {
  for (NodeId id = joint.first(); id != graph::kNoNode; id = joint[id].next) {
    const CheckpointPolicy policy = joint[id].meta->recompute;
    if (policy == CheckpointPolicy::kMustRecompute || policy == CheckpointPolicy::kPreferRecompute) return true;
  }
  return false;
}

void check_marks(const JointView& view, const Classification& classes) {
  for (const NodeId id : view.order) {
    const graph::Node& node = view.node(id);
    if (view.is_input(id) && view.must_recompute(id)) {
      throw_user("partition", "input '" + node.name +
                                  "' is marked for recomputation, but there is nothing to compute an input from; take "
                                  "the mark off");
    }
    if (node.meta->partitioner_tag == PartitionerTag::kMustBeInForward && classes.in_closure(id)) {
      throw_user("partition", "'" + node.name + "' (" + node.target +
                                  ") is tagged must_be_in_forward, but depends on an incoming gradient, which only the "
                                  "backward has; change the tag or what it reads");
    }
  }
}

bool is_functional(const JointView& view) {
  return std::ranges::all_of(view.order, [&](NodeId id) {
    const graph::Node& node = view.node(id);
    if (!view.is_call(id) || !view.info(id).is_mutable) return true;
    if (node.target != kCopyInto && node.target != "aten.set_.source_Tensor" && node.target != "fsdp.copy_.default")
      return false;
    const auto* target = node.args.empty() ? nullptr : node.args[0].as<graph::NodeArg>();
    return target && view.node(target->id).kind == graph::NodeKind::kPlaceholder;
  });
}

void apply_tag_rules(JointView& view, bool save_region_inputs) {
  if (has_recompute_marks(*view.graph)) settle_region_boundaries(view, save_region_inputs);
  for (const NodeId id : view.order)
    if (view.is_call(id) && view.is_collective(id) && !view.must_recompute(id)) mark_save(view, id);
  for (const NodeId id : view.order) {
    const bool effects = view.node(id).target == "higher_order.with_effects";
    if (effects && !view.must_recompute(id) && !view.is_backward_tagged(id)) save_effect_results(view, id);
  }
  save_sources_of_double_writes(view);
}

}  // namespace sapwood::partition
