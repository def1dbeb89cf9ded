#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/name_index.h"

namespace sapwood::graph {

/// The IR of every stage: a list of nodes in execution order, each a placeholder, an attribute, a call or the one
/// output.
///
/// A node's value is computed once and never changes (SSA); an operator with several results yields a tuple that
/// `operator.getitem` nodes take apart. Order is meaningful: random and effectful operators run in graph order. Names
/// are unique and survive every pass, so that a report can speak of a node that a user saw in a dump. Operators carry
/// PyTorch's names.
///
/// Invariants (checked by `verify`): every argument is defined before its use; `users` mirrors the arguments;
/// placeholders come first; exactly one output, last. All operations are O(1) or O(size of what they touch) and keep
/// `users` right.
///
/// Copyable (a deep copy with equal ids). Not thread-safe while it is being changed.
class Graph {
 public:
  std::string name;
  std::vector<std::pair<std::string, std::string>> producer;  ///< e.g. {"torch","2.13.0"}, {"source","..."}
  int64_t num_forward_outputs = 0;                            ///< leading outputs that belong to the forward
  std::vector<int64_t> static_lifetime_inputs;                ///< indices into the primals; see FORMAT
  SymbolTable symbols;
  std::map<std::string, OpDecl, std::less<>> ops;
  std::map<std::string, std::shared_ptr<Graph>, std::less<>> subgraphs;  ///< bodies of higher-order operators
  std::map<std::string, Attribute, std::less<>> attributes;

  Graph() = default;
  Graph(const Graph& other);  ///< deep: subgraphs are copied as well
  Graph& operator=(const Graph& other);
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;
  ~Graph() = default;

  // Reading.
  const Node& operator[](NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  NodeId first() const { return first_; }
  NodeId last() const { return last_; }
  /// Number of live nodes.
  size_t size() const { return live_; }
  /// One more than the largest id ever given: the size of a table indexed by NodeId.
  size_t id_bound() const { return nodes_.size(); }
  /// Live nodes in graph order. O(n).
  std::vector<NodeId> order() const;
  std::vector<NodeId> placeholders() const;
  NodeId find(std::string_view node_name) const;  ///< kNoNode if there is none
  NodeId output() const;                          ///< kNoNode if there is none
  /// The values that the output node returns; kNoNode stands for None. Empty without an output node.
  std::vector<NodeId> output_values() const;
  /// Distinct nodes that `id` reads, in order of first mention.
  std::vector<NodeId> inputs(NodeId id) const;

  // Building. Each returns the new node, inserted before the insertion point (by default the end).
  NodeId placeholder(std::string_view node_name, Shared<Value> val);
  NodeId get_attr(std::string_view node_name, std::string_view target);
  /// `node_name` empty: derived from the target ("aten.mm.default" -> "mm", then "mm_1", ...).
  NodeId call(std::string_view target, ArgumentList args, Shared<Value> val, std::string_view node_name = {});
  NodeId output(const std::vector<NodeId>& values);
  /// Adds `node` as it is (id, links and users are set here). Errors: a name that is taken or an unknown argument is an
  /// internal error.
  NodeId add(Node node);
  /// Makes room for this many nodes in all; changes nothing else.
  void reserve(size_t nodes);
  /// New nodes go before `id`; kNoNode: to the end.
  void set_insertion_point(NodeId id) { insertion_point_ = id; }
  NodeId insertion_point() const { return insertion_point_; }
  /// `wanted`, or `wanted_1`, `wanted_2`, ... if it is taken.
  std::string unique_name(std::string_view wanted) const;

  // Changing.
  NodeMeta& meta(NodeId id) { return nodes_[static_cast<size_t>(id)].meta.edit(); }
  void set_meta(NodeId id, Shared<NodeMeta> meta) { nodes_[static_cast<size_t>(id)].meta = std::move(meta); }
  void set_val(NodeId id, Shared<Value> val) { nodes_[static_cast<size_t>(id)].val = std::move(val); }
  void set_args(NodeId id, ArgumentList args);
  void set_kwargs(NodeId id, std::vector<std::pair<std::string, Argument>> kwargs);
  void set_target(NodeId id, std::string_view target) { nodes_[static_cast<size_t>(id)].target = target; }
  void rename(NodeId id, std::string_view new_name);
  /// Every user of `from` reads `to` instead. O(arguments of the users).
  void replace_all_uses(NodeId from, NodeId to);
  /// The same for these users of `from` only, each named once; others are left alone. O(users of `from` and arguments
  /// of these).
  void replace_uses(NodeId from, NodeId to, const std::vector<NodeId>& users);
  /// Errors: a node that still has users is an internal error.
  void erase(NodeId id);
  /// Moves `id` directly before `before`.
  void move_before(NodeId id, NodeId before);
  /// Sets the stored order of users; `users` must be a permutation of the present ones.
  void set_user_order(NodeId id, std::vector<NodeId> users);

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using SuffixTable = std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>>;

  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  void note_suffix(std::string_view node_name);
  void link(NodeId id);
  void unlink(NodeId id);
  void add_uses(NodeId user, const std::vector<NodeId>& inputs);
  void drop_uses(NodeId user);
  void redirect(NodeId from, NodeId to, const std::vector<NodeId>& users);

  std::vector<Node> nodes_;
  NameIndex by_name_;
  SuffixTable highest_suffix_;  // by the name without it
  NodeId first_ = kNoNode;
  NodeId last_ = kNoNode;
  NodeId insertion_point_ = kNoNode;
  size_t live_ = 0;
};

}  // namespace sapwood::graph
