#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "graph/joint_graph.h"
#include "ops/op_table.h"

namespace sapwood::partition {

/// What a node is to the partitioner.
enum class Role : uint8_t {
  kAbsent,        ///< takes no part (erased; an optimizer node of a whole step)
  kPrimal,        ///< input of the forward
  kForwardSeed,   ///< random seed or offset of the forward
  kBackwardSeed,  ///< random seed or offset of the backward
  kTangent,       ///< incoming gradient
  kAttribute,     ///< constant of the graph
  kCall,
  kOutput,
};

/// A list of nodes for each node, all in one array.
class NodeLists {
 public:
  explicit NodeLists(size_t bound = 0) : ranges_(bound) {}
  std::span<const graph::NodeId> operator[](graph::NodeId id) const {
    const Range& range = ranges_[static_cast<size_t>(id)];
    return std::span(items_).subspan(range.begin, range.size);
  }
  std::span<graph::NodeId> edit(graph::NodeId id) {
    const Range& range = ranges_[static_cast<size_t>(id)];
    return std::span(items_).subspan(range.begin, range.size);
  }
  /// Begins the list of `id`, which has none yet; `add` makes the list begun last longer.
  void begin(graph::NodeId id) {
    open_ = static_cast<size_t>(id);
    ranges_[open_].begin = static_cast<uint32_t>(items_.size());
  }
  void add(graph::NodeId item) {
    items_.push_back(item);
    ++ranges_[open_].size;
  }
  void reserve(size_t items) { items_.reserve(items); }

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t size = 0;
  };
  std::vector<Range> ranges_;
  std::vector<graph::NodeId> items_;
  size_t open_ = 0;
};

/// A joint graph as the partitioner reads it: flat tables indexed by NodeId, every question answered once.
///
/// It refers to the graph and must not outlive it. Two kinds of graph are viewed in the same way: joint graphs from
/// AOTAutograd, and whole training steps, in which the backward has no tangents and the optimizer takes no part.
struct JointView {
  const graph::Graph* graph = nullptr;
  bool whole_step = false;
  std::vector<graph::NodeId> order;  ///< nodes that take part, in graph order
  std::vector<int32_t> position;     ///< index in `order`
  std::vector<Role> role;
  NodeLists users;                              ///< only those that take part
  NodeLists inputs;                             ///< distinct, in order of first mention
  std::vector<const ops::OpInfo*> op;           ///< of calls; others get an empty record
  std::vector<graph::CheckpointPolicy> policy;  ///< starts as the node's own, then the tag rules are applied
  std::vector<int64_t> value_bytes;             ///< see `bytes`
  std::vector<int32_t> storages;                ///< see `storage`
  std::vector<uint8_t> in_backward;             ///< must run in the backward, whatever it reads
  std::vector<uint8_t> in_forward;              ///< must run in the forward
  std::vector<uint8_t> is_static;               ///< its storage outlives the step: free to save
  std::vector<int32_t> overwritten;             ///< memory that the forward writes, by storage number, ascending
  std::vector<graph::NodeId> forward_outputs;   ///< kNoNode stands for None
  std::vector<graph::NodeId> backward_outputs;

  const graph::Node& node(graph::NodeId id) const { return (*graph)[id]; }
  const ops::OpInfo& info(graph::NodeId id) const { return *op[static_cast<size_t>(id)]; }
  Role role_of(graph::NodeId id) const { return role[static_cast<size_t>(id)]; }
  std::span<const graph::NodeId> users_of(graph::NodeId id) const { return users[id]; }
  std::span<const graph::NodeId> inputs_of(graph::NodeId id) const { return inputs[id]; }

  bool is_call(graph::NodeId id) const { return role_of(id) == Role::kCall; }
  bool is_input(graph::NodeId id) const { return role_of(id) == Role::kPrimal || role_of(id) == Role::kForwardSeed; }
  bool is_getitem(graph::NodeId id) const { return is_call(id) && node(id).target == "operator.getitem"; }
  bool is_view(graph::NodeId id) const { return info(id).remat == ops::Remat::kView; }
  bool is_collective(graph::NodeId id) const { return node(id).target.starts_with("_c10d_functional."); }
  /// Takes numbers from a random generator.
  bool draws(graph::NodeId id) const { return is_call(id) && ops::draws_numbers(info(id), node(id)); }
  /// Yields a symbolic size (or float, or boolean).
  bool is_symbol(graph::NodeId id) const;
  /// Yields an object that is neither tensor nor number.
  bool is_opaque(graph::NodeId id) const;
  /// The state of hooks that PyTorch's compiled autograd adds to the inputs: the backward gets it directly.
  bool is_backward_state(graph::NodeId id) const;
  bool is_tensor(graph::NodeId id) const { return node(id).tensor() != nullptr; }
  /// The user's checkpointing asks for recomputation.
  bool must_recompute(graph::NodeId id) const;
  bool must_save(graph::NodeId id) const;
  bool is_backward_tagged(graph::NodeId id) const;
  /// Computes a value from memory of an input that the forward writes at its end: the backward would see what was
  /// written.
  bool reads_overwritten(graph::NodeId id) const;
  /// A dead-code elimination must keep the node.
  bool is_impure(graph::NodeId id) const;
  /// `user` can be part of the loop that computes `id`.
  bool can_fuse(graph::NodeId id, graph::NodeId user) const;
  /// Bytes of the value, hints standing for symbols; a symbol counts 1, what isn't a tensor counts 0.
  int64_t bytes(graph::NodeId id) const { return value_bytes[static_cast<size_t>(id)]; }
  /// Number of the memory that the value lies in; -1 for what isn't a tensor with memory.
  int32_t storage(graph::NodeId id) const { return storages[static_cast<size_t>(id)]; }
  /// By storage number, ascending: memory of inputs and of constants, which is there whatever is saved.
  std::vector<int32_t> input_storages() const;

  std::deque<ops::OpInfo> unknown_ops;  ///< owns the records of operators without a row
};

/// Views a joint graph with tangents. `users_in_graph_order` replaces the stored order of users.
JointView view_joint(const graph::Graph& joint, bool users_in_graph_order);

/// Views a whole step: what is tagged kBackward must run in the backward; values that the optimizer reads are outputs
/// of the part that computes them; optimizer nodes take no part; every input is free to save, since it stays unchanged
/// throughout the step.
JointView view_step(const graph::JointGraph& step);

/// Bytes of a value, hints standing for symbols.
int64_t value_bytes(const graph::Value& value, const graph::SymbolTable& symbols);

}  // namespace sapwood::partition
