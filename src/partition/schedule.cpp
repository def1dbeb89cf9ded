#include "base/error.h"
#include "ops/op_table.h"
#include "partition/partition.h"
#include "partition/remap.h"
#include "partition/storage_numbers.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::PartitionerTag;

constexpr std::string_view kStage = "schedule";

bool runs_after_forward(const Node& node) {
  const PartitionerTag tag = node.meta->partitioner_tag;
  return tag == PartitionerTag::kBackward || tag == PartitionerTag::kMustBeInBackward ||
         tag == PartitionerTag::kOptimizer;
}

class Scheduler {
 public:
  Scheduler(const graph::JointGraph& step, const Plan& plan) : result_(step), storages_(step.graph) {
    kept_.assign(step.graph.id_bound(), 0);
    for (const SavedValue& value : plan.saved) kept_[static_cast<size_t>(value.node)] = 1;
    for (const SavedValue& value : plan.saved_symbols) kept_[static_cast<size_t>(value.node)] = 1;
    copies_.assign(step.graph.id_bound(), kNoNode);
  }

  graph::JointGraph run() {
    const std::vector<NodeId> order = graph().order();
    for (const NodeId id : order)
      if (graph()[id].kind == NodeKind::kCallFunction && is_later_part(id)) redirect(id);
    graph().set_insertion_point(kNoNode);
    drop_unread(order);
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.graph; }

  /// An item of a forward tuple is forward, whatever its tag says.
  bool is_later_part(NodeId id) {
    while (graph()[id].is_call("operator.getitem")) id = graph().inputs(id).front();
    return runs_after_forward(graph()[id]);
  }

  bool is_available(NodeId id) {
    return kept_[static_cast<size_t>(id)] || graph()[id].kind != NodeKind::kCallFunction || is_later_part(id);
  }

  /// Lets a backward or optimizer node read copies of the forward values that aren't kept.
  void redirect(NodeId reader) {
    bool changed = false;
    for (const NodeId read : graph().inputs(reader)) {
      if (is_available(read)) continue;
      compute_again(read, reader);
      changed = true;
    }
    if (!changed) return;
    graph::ArgumentList args = graph()[reader].args;
    auto kwargs = graph()[reader].kwargs;
    const auto renumber = [&](NodeId id) { return available_id(id); };
    for (graph::Argument& argument : args) remap_nodes(argument, renumber);
    for (auto& [key, argument] : kwargs) remap_nodes(argument, renumber);
    graph().set_args(reader, std::move(args));
    graph().set_kwargs(reader, std::move(kwargs));
  }

  NodeId available_id(NodeId id) const {
    const auto at = static_cast<size_t>(id);
    return at < copies_.size() && copies_[at] != kNoNode ? copies_[at] : id;
  }

  /// Copies `id`, and before it whatever it needs, directly before `reader`.
  void compute_again(NodeId id, NodeId reader) {
    std::vector<NodeId> pending{id};
    while (!pending.empty()) {
      const NodeId current = pending.back();
      bool ready = true;
      for (const NodeId read : graph().inputs(current)) {
        if (is_available(read) || copies_[static_cast<size_t>(read)] != kNoNode) continue;
        pending.push_back(read);
        ready = false;
      }
      if (!ready) continue;
      pending.pop_back();
      if (copies_[static_cast<size_t>(current)] == kNoNode) copy_before(current, reader);
    }
  }

  void copy_before(NodeId id, NodeId reader) {
    const ops::OpInfo info = ops::describe(graph(), graph()[id]);
    if (info.effect || info.is_mutable || ops::draws_numbers(info, graph()[id])) {
      throw_internal(kStage, "the plan recomputes '" + graph()[id].name + "' (" + graph()[id].target +
                                 "), which draws random numbers or has an effect; it must be saved");
    }
    Node copy = graph()[id];
    copy.users.clear();
    copy.name = graph().unique_name(copy.name + "_recompute");
    copy.meta.edit().partitioner_tag = PartitionerTag::kBackward;
    copy.meta.edit().autograd_backward = true;
    remap_nodes(copy, [&](NodeId old) { return available_id(old); });
    if (copy.val)
      storages_.renew(copy.val.edit(),
                      info.is_view || info.op_class == ops::OpClass::kView || copy.target == "operator.getitem");
    graph().set_insertion_point(reader);
    copies_[static_cast<size_t>(id)] = graph().add(std::move(copy));
  }

  /// Forward nodes whose readers all read copies now.
  void drop_unread(const std::vector<NodeId>& order) {
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& node = graph()[*it];
      if (node.kind != NodeKind::kCallFunction || !node.users.empty() || node.meta->impure || runs_after_forward(node))
        continue;
      if (ops::describe(graph(), node).is_pure()) graph().erase(*it);
    }
  }

  graph::JointGraph result_;
  StorageNumbers storages_;
  std::vector<uint8_t> kept_;
  std::vector<NodeId> copies_;  // by id of the original
};

}  // namespace

graph::JointGraph schedule_step(const graph::JointGraph& step, const Plan& plan) { return Scheduler(step, plan).run(); }

}  // namespace sapwood::partition
