#include "passes/common_subexpression.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "ops/op_table.h"
#include "passes/python_hash.h"

namespace sapwood::passes {
namespace {

using graph::Argument;
using graph::ArgumentList;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

/// What the pass needs to know of an operator.
struct OperatorFacts {
  bool never_merged = false;
  bool is_mutable = false;
};

/// A tensor without defined content: merging two would make one write into the other.
bool is_uninitialised(const ops::OpInfo& info) {
  return info.packet.ends_with(".empty") || info.packet.find(".empty_") != std::string::npos ||
         info.packet.find(".new_empty") != std::string::npos;
}

/// Operators, without overload, that PyTorch never merges.
constexpr std::array<std::string_view, 16> kTorchNeverMerges = {
    "aten.dropout",     "aten._fused_dropout", "aten._standard_gamma", "aten.bernoulli",
    "aten.multinomial", "aten.native_dropout", "aten.normal",          "aten.poisson",
    "aten.binomial",    "aten.rrelu",          "aten.rand_like",       "aten.rand",
    "aten.randint",     "aten.randn",          "aten.randperm",        "aten.empty"};

class FactTable {
 public:
  FactTable(const Graph& graph, bool as_torch) : graph_(graph), as_torch_(as_torch) {}

  const OperatorFacts& operator()(const Node& node) {
    const auto known = facts_.find(node.target);
    if (known != facts_.end()) return known->second;
    const ops::OpInfo info = ops::describe(graph_, node);
    // An operator that nobody declares may do anything, so nothing is merged across it. Higher-order operators are
    // functional: what their bodies would write was made explicit when the graph was captured.
    const bool unknown = !info.known && info.effect && !node.target.starts_with("higher_order.");
    const bool never_merged = as_torch_ ? std::ranges::find(kTorchNeverMerges, info.packet) != kTorchNeverMerges.end()
                                        : info.draws || is_uninitialised(info) || unknown;
    const OperatorFacts facts{never_merged, info.is_mutable || (unknown && !as_torch_)};
    return facts_.emplace(node.target, facts).first->second;
  }

 private:
  const Graph& graph_;
  bool as_torch_;
  std::unordered_map<std::string, OperatorFacts> facts_;
};

/// Hashes arguments the way upstream does: a flat list of leaves with their types, structure left out.
class LeafHasher {
 public:
  explicit LeafHasher(const Node& node) {
    text(node.target);
    for (const Argument& arg : node.args) add(arg);
    word(kEndOfArguments);
    for (const auto& [key, arg] : node.kwargs) add(arg);
  }
  uint64_t value() const { return hash_; }

 private:
  static constexpr uint64_t kEndOfArguments = 0x5eed;

  void word(uint64_t value) { hash_ = hash_mix(hash_, value); }
  void text(std::string_view value) { word(hash_bytes(value)); }

  void add(const ArgumentList& items) {
    for (const Argument& item : items) add(item);
  }

  void add(const Argument& arg) {
    if (const auto* list = arg.as<graph::ListArg>()) return add(list->items);
    if (const auto* tuple = arg.as<graph::TupleArg>()) return add(tuple->items);
    if (const auto* slice = arg.as<graph::SliceArg>()) return add(slice->bounds);
    if (const auto* dict = arg.as<graph::DictArg>()) {
      for (const auto& [key, item] : dict->items) add(item);
      return;
    }
    word(arg.value.index());
    std::visit([this](const auto& value) { leaf(value); }, arg.value);
  }

  void leaf(graph::NoneArg) {}
  void leaf(const graph::NodeArg& node) { word(static_cast<uint64_t>(node.id)); }
  void leaf(bool value) { word(value ? 1 : 0); }
  void leaf(int64_t value) { word(static_cast<uint64_t>(python_hash(value))); }
  void leaf(double value) { word(static_cast<uint64_t>(python_hash(value))); }
  void leaf(const std::string& value) { text(value); }
  void leaf(const std::complex<double>& value) {
    leaf(value.real());
    leaf(value.imag());
  }
  void leaf(graph::DType value) { word(static_cast<uint64_t>(value)); }
  void leaf(const graph::Device& value) { text(value.str()); }
  void leaf(graph::Layout value) { word(static_cast<uint64_t>(value)); }
  void leaf(graph::MemoryFormat value) { word(static_cast<uint64_t>(value)); }
  void leaf(const graph::SymExpr& value) { word(value.hash()); }
  void leaf(const graph::OperatorArg& value) { text(value.name); }
  void leaf(const graph::OpaqueArg& value) { text(value.repr); }
  template <typename Container>
  void leaf(const Container&) {}  // flattened above

  uint64_t hash_ = 0;
};

bool same_call(const Node& a, const Node& b) {
  return a.target == b.target && a.args == b.args && a.kwargs == b.kwargs;
}

/// Storages that the caller sees. Merging would make two of its tensors one.
std::unordered_set<int32_t> output_storages(const Graph& graph) {
  std::unordered_set<int32_t> storages;
  for (const NodeId id : graph.output_values()) {
    const graph::TensorMeta* tensor = id == kNoNode ? nullptr : graph[id].tensor();
    if (tensor && tensor->storage) storages.insert(*tensor->storage);
  }
  return storages;
}

void put_users_in_graph_order(Graph& graph) {
  std::vector<std::vector<NodeId>> users(graph.id_bound());
  const std::vector<NodeId> order = graph.order();
  for (const NodeId id : order)
    for (const NodeId input : graph.inputs(id)) users[static_cast<size_t>(input)].push_back(id);
  for (const NodeId id : order)
    if (users[static_cast<size_t>(id)] != graph[id].users)
      graph.set_user_order(id, std::move(users[static_cast<size_t>(id)]));
}

/// A call that stands for all later ones with its hash.
struct Representative {
  NodeId id;
  int64_t region;
};

bool merge(Graph& graph, bool as_torch) {
  const std::unordered_set<int32_t> visible = output_storages(graph);
  FactTable facts(graph, as_torch);
  std::unordered_map<uint64_t, Representative> first;
  int64_t region = 0;
  bool changed = false;
  for (const NodeId id : graph.order()) {
    const Node& node = graph[id];
    if (node.kind != NodeKind::kCallFunction) continue;
    const OperatorFacts& fact = facts(node);
    if (fact.is_mutable) ++region;
    const graph::TensorMeta* tensor = node.tensor();
    const bool aliases_output = tensor && tensor->storage && visible.contains(*tensor->storage);
    const bool binds_symbol = !as_torch && !node.meta->unbacked_bindings.empty();
    if (fact.never_merged || aliases_output || binds_symbol) continue;
    const auto [entry, fresh] = first.try_emplace(LeafHasher(node).value(), Representative{id, region});
    if (fresh || !same_call(node, graph[entry->second.id])) continue;
    if (entry->second.region != region) {
      entry->second = {id, region};
      continue;
    }
    graph.replace_all_uses(id, entry->second.id);
    graph.erase(id);
    changed = true;
  }
  put_users_in_graph_order(graph);
  return changed;
}

}  // namespace

bool merge_common_subexpressions(Graph& graph) { return merge(graph, /*as_torch=*/false); }

bool merge_common_subexpressions_as_torch(Graph& graph) { return merge(graph, /*as_torch=*/true); }

}  // namespace sapwood::passes
