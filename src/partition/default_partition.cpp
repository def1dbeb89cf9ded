#include "partition/default_partition.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "partition/tag_rules.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;

constexpr std::string_view kStage = "partition";

/// Operators that only check or profile: their results aren't values.
bool is_bookkeeping(const JointView& view, NodeId id) {
  return view.node(id).target.starts_with("profiler._record_function") ||
         (view.info(id).op_class == ops::OpClass::kAssertion && view.node(id).target.starts_with("aten._assert"));
}

/// By NodeId: recorded up to the last node that is tagged forward. Tangents don't count.
std::vector<uint8_t> recorded_forward(const JointView& view) {
  size_t end = 0;
  for (size_t i = 0; i < view.order.size(); ++i) {
    const NodeId id = view.order[i];
    if (view.node(id).meta->partitioner_tag == PartitionerTag::kForward || view.is_input(id)) end = i + 1;
  }
  std::vector<uint8_t> forward(view.role.size(), 0);
  for (size_t i = 0; i < end; ++i)
    forward[static_cast<size_t>(view.order[i])] = view.role_of(view.order[i]) != Role::kTangent;
  return forward;
}

bool is_multi_output(const JointView& view, NodeId id) {
  const auto users = view.users_of(id);
  return !users.empty() && std::ranges::all_of(users, [&](NodeId user) { return view.is_getitem(user); });
}

/// As PyTorch sees it here: a wait for a collective may be repeated.
bool has_effect(const JointView& view, NodeId id) {
  return view.is_call(id) && view.is_impure(id) && view.node(id).target != "_c10d_functional.wait_tensor.default";
}

class DefaultChoice {
 public:
  explicit DefaultChoice(const JointView& view)
      : view_(view), forward_(recorded_forward(view)), checkpointing_(has_recompute_marks(*view.graph)) {}

  SavedSets run() {
    for (const NodeId id : view_.order)
      if (forward_[static_cast<size_t>(id)] && view_.role_of(id) != Role::kOutput) consider(id);
    std::erase_if(sets_.symbols, [&](NodeId id) { return split_by_kind(view_, {id}).symbols.empty(); });
    return std::move(sets_);
  }

 private:
  void consider(NodeId id) {
    if (view_.role_of(id) == Role::kAttribute && view_.graph->subgraphs.contains(view_.node(id).name)) return;
    if (view_.is_call(id) && is_bookkeeping(view_, id)) return;
    if (view_.is_symbol(id)) return add(sets_.symbols, id);
    if (is_multi_output(view_, id)) return;
    if (view_.must_save(id)) return save(id);
    if (has_effect(view_, id)) return save_effect(id);
    if (view_.is_opaque(id)) return save(id);
    consider_tensor(id);
  }

  void save_effect(NodeId id) {
    if (checkpointing_) {
      throw_unsupported(
          kStage,
          "'" + view_.node(id).name + "' (" + view_.node(id).target +
              ") has an effect, so a checkpointed graph can't run it twice; take it out of the checkpointed region");
    }
    save(id);
  }

  void save(NodeId id) { add(view_.is_opaque(id) ? sets_.objects : sets_.tensors, id); }

  void consider_tensor(NodeId id) {
    if (view_.is_call(id) && !view_.is_tensor(id) && !view_.node(id).meta->tensor_meta) {
      throw_unsupported(
          kStage, "'" + view_.node(id).name + "' (" + view_.node(id).target +
                      ") isn't a tensor, so it can't be saved; take its results apart with getitem in the forward");
    }
    std::vector<NodeId> readers;
    for (const NodeId user : view_.users_of(id))
      if (!forward_[static_cast<size_t>(user)]) readers.push_back(user);
    if (std::ranges::all_of(readers, [&](NodeId user) { return view_.is_symbol(user); })) {
      for (const NodeId user : readers) add(sets_.symbols, user);
      return;
    }
    if (!view_.must_recompute(id)) add(sets_.tensors, id);
  }

  void add(std::vector<NodeId>& set, NodeId id) {
    if (added_.insert(id).second) set.push_back(id);
  }

  const JointView& view_;
  std::vector<uint8_t> forward_;
  bool checkpointing_;
  SavedSets sets_;
  std::set<NodeId> added_;
};

/// Follows what the backward reads back to what must be kept.
class FreeRecomputation {
 public:
  FreeRecomputation(const JointView& view, const Classification& classes)
      : view_(view), classes_(classes), seen_(view.role.size(), 0), own_(view.role.size(), 0) {}

  std::vector<NodeId> run() {
    mark_own();
    for (const NodeId id : view_.order) {
      if (!classes_.in_closure(id) || view_.role_of(id) == Role::kOutput) continue;
      for (const NodeId read : view_.inputs_of(id)) need(read);
    }
    for (const NodeId id : view_.backward_outputs)
      if (id != kNoNode) need(id);
    while (!pending_.empty()) {
      const NodeId id = pending_.back();
      pending_.pop_back();
      resolve(id);
    }
    std::ranges::sort(saved_, {}, [&](NodeId id) { return view_.position[static_cast<size_t>(id)]; });
    return std::move(saved_);
  }

 private:
  /// What follows from the backward's own random seeds is the backward's own.
  void mark_own() {
    for (const NodeId id : view_.order) {
      const auto reads_own = [&](NodeId read) { return own_[static_cast<size_t>(read)] != 0; };
      own_[static_cast<size_t>(id)] =
          view_.role_of(id) == Role::kBackwardSeed || std::ranges::any_of(view_.inputs_of(id), reads_own);
    }
  }

  void need(NodeId id) {
    if (classes_.in_closure(id) || seen_[static_cast<size_t>(id)] || view_.role_of(id) == Role::kBackwardSeed) return;
    seen_[static_cast<size_t>(id)] = 1;
    pending_.push_back(id);
  }

  void resolve(NodeId id) {
    if (view_.role_of(id) == Role::kAttribute) return;
    const bool part_of_view = view_.is_getitem(id) && is_free_to_recompute(view_, view_.inputs_of(id).front());
    const bool recompute = !view_.must_save(id) && (part_of_view || is_free_to_recompute(view_, id));
    // What was recorded in the backward stays there, also if it depends on no tangent.
    const bool stays = own_[static_cast<size_t>(id)] || (!classes_.is_forward(id) && view_.is_backward_tagged(id));
    if (!recompute && !stays && !view_.must_recompute(id)) return saved_.push_back(id);
    for (const NodeId read : view_.inputs_of(id)) need(read);
  }

  const JointView& view_;
  const Classification& classes_;
  std::vector<uint8_t> seen_;
  std::vector<uint8_t> own_;
  std::vector<NodeId> pending_;
  std::vector<NodeId> saved_;
};

}  // namespace

bool is_free_to_recompute(const JointView& view, NodeId id) {
  const ops::OpInfo& info = view.info(id);
  if (!view.is_call(id) || !info.is_pure()) return false;
  if (info.op_class == ops::OpClass::kCreation) return view.inputs_of(id).empty();
  return info.op_class == ops::OpClass::kView;
}

SavedSets choose_default(const JointView& view) { return DefaultChoice(view).run(); }

std::vector<NodeId> choose_all_but_free(const JointView& view, const Classification& classes) {
  return FreeRecomputation(view, classes).run();
}

}  // namespace sapwood::partition
