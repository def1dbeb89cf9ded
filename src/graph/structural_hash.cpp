#include <bit>

#include "base/hash.h"
#include "graph/verify.h"

namespace sapwood::graph {
namespace {

/// Folds everything that determines what a graph computes into one number. Nodes are numbered by position, so that
/// names and ids don't matter.
class StructuralHasher {
 public:
  explicit StructuralHasher(const Graph& graph) : graph_(graph), position_(graph.id_bound(), 0) {}

  uint64_t run() {
    const std::vector<NodeId> order = graph_.order();
    for (size_t i = 0; i < order.size(); ++i) position_[static_cast<size_t>(order[i])] = i + 1;
    word(order.size());
    for (const NodeId id : order) add(graph_[id]);
    word(static_cast<uint64_t>(graph_.num_forward_outputs));
    for (const int64_t index : graph_.static_lifetime_inputs) word(static_cast<uint64_t>(index));
    return hash_;
  }

 private:
  void word(uint64_t value) { hash_ = hash_mix(hash_, value); }
  void text(std::string_view value) { word(hash_bytes(value)); }

  void add(const Node& node) {
    word(static_cast<uint64_t>(node.kind));
    if (node.kind == NodeKind::kCallFunction) text(node.target);
    if (node.kind == NodeKind::kGetAttr) add_attribute(node.target);
    word(static_cast<uint64_t>(node.meta->partitioner_tag));
    add(node.args);
    word(node.kwargs.size());
    for (const auto& [key, arg] : node.kwargs) {
      text(key);
      add(arg);
    }
    word(node.val.has_value());
    if (node.val) add(*node.val);
  }

  /// By content: the name under which a graph keeps a constant or a body is not part of the structure.
  void add_attribute(std::string_view target) {
    const auto body = graph_.subgraphs.find(target);
    if (body != graph_.subgraphs.end() && body->second) return word(structural_hash(*body->second));
    const auto attribute = graph_.attributes.find(target);
    if (attribute == graph_.attributes.end()) return text(target);
    add_value(attribute->second.tensor);
    word(attribute->second.values.has_value());
    // Values that aren't stored can't be compared: the name stands for them.
    if (attribute->second.values) {
      add(*attribute->second.values);
    } else {
      text(target);
    }
  }

  // Arguments.

  void add(const ArgumentList& items) {
    word(items.size());
    for (const Argument& item : items) add(item);
  }

  void add(const Argument& arg) {
    word(arg.value.index());
    std::visit([this](const auto& value) { add_argument(value); }, arg.value);
  }

  void add_argument(NoneArg) {}
  void add_argument(const NodeArg& node) {
    const bool known = node.id >= 0 && static_cast<size_t>(node.id) < position_.size();
    word(known ? position_[static_cast<size_t>(node.id)] : 0);
  }
  void add_argument(bool value) { word(value ? 1 : 0); }
  void add_argument(int64_t value) { word(static_cast<uint64_t>(value)); }
  void add_argument(double value) { word(std::bit_cast<uint64_t>(value)); }
  void add_argument(const std::string& value) { text(value); }
  void add_argument(const std::complex<double>& value) {
    add_argument(value.real());
    add_argument(value.imag());
  }
  void add_argument(DType value) { word(static_cast<uint64_t>(value)); }
  void add_argument(const Device& value) {
    text(value.type);
    word(static_cast<uint64_t>(value.index));
  }
  void add_argument(Layout value) { word(static_cast<uint64_t>(value)); }
  void add_argument(MemoryFormat value) { word(static_cast<uint64_t>(value)); }
  void add_argument(const SymExpr& value) { word(value.hash()); }
  void add_argument(const ListArg& value) { add(value.items); }
  void add_argument(const TupleArg& value) { add(value.items); }
  void add_argument(const SliceArg& value) { add(value.bounds); }
  void add_argument(const DictArg& value) {
    word(value.items.size());
    for (const auto& [key, item] : value.items) {
      text(key);
      add(item);
    }
  }
  void add_argument(const OperatorArg& value) { text(value.name); }
  void add_argument(const OpaqueArg& value) { text(value.repr); }

  // Values.

  void add(const Value& value) {
    word(value.value.index());
    std::visit([this](const auto& v) { add_value(v); }, value.value);
  }

  void add(const std::vector<SymExpr>& list) {
    word(list.size());
    for (const SymExpr& expr : list) word(expr.hash());
  }

  void add(const std::optional<SymExpr>& expr) { word(expr ? expr->hash() : 0); }

  void add_value(NoneValue) {}
  void add_value(const TensorMeta& tensor) {
    word(static_cast<uint64_t>(tensor.dtype));
    add_argument(tensor.device);
    word(static_cast<uint64_t>(tensor.layout));
    word(tensor.requires_grad ? 1 : 0);
    add(tensor.shape);
    word(tensor.stride.has_value());
    if (tensor.stride) add(*tensor.stride);
    add(tensor.offset);
    add(tensor.storage_bytes);
    word(storage_number(tensor.storage));
    text(tensor.subclass);
  }
  void add_value(const SymIntValue& value) { word(value.expr.hash()); }
  void add_value(const SymFloatValue& value) { text(value.expr); }
  void add_value(const SymBoolValue& value) { word(value.expr.hash()); }
  void add_value(const TupleValue& value) { add(value.items); }
  void add_value(const ListValue& value) { add(value.items); }
  void add_value(const DictValue& value) {
    word(value.items.size());
    for (const auto& [key, item] : value.items) {
      text(key);
      add(item);
    }
  }
  void add_value(const ConstValue& value) { add(value.value); }
  void add_value(const OpaqueValue& value) { text(value.repr); }

  void add(const std::vector<Value>& values) {
    word(values.size());
    for (const Value& value : values) add(value);
  }

  /// Storages count by first mention: which tensors share one matters, the number doesn't.
  uint64_t storage_number(const std::optional<int32_t>& storage) {
    if (!storage) return 0;
    return storages_.try_emplace(*storage, storages_.size() + 1).first->second;
  }

  const Graph& graph_;
  std::vector<uint64_t> position_;
  std::unordered_map<int32_t, uint64_t> storages_;
  uint64_t hash_ = 0;
};

}  // namespace

uint64_t structural_hash(const Graph& graph) { return StructuralHasher(graph).run(); }

}  // namespace sapwood::graph
