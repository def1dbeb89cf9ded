#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/shared.h"
#include "graph/value.h"

namespace sapwood::graph {

enum class NodeKind : uint8_t { kPlaceholder, kGetAttr, kCallFunction, kOutput };

/// Which part of the step a node was recorded in. `kOptimizer` never occurs in graphs that come from PyTorch.
enum class PartitionerTag : uint8_t { kNone, kForward, kBackward, kMustBeInForward, kMustBeInBackward, kOptimizer };

enum class CheckpointPolicy : uint8_t {
  kNone,
  kMustSave,
  kPreferSave,
  kMustRecompute,
  kPreferRecompute,
  kMustCpuOffload,
  kPreferCpuOffload
};

/// A number that was written as an integer (`1`) or as a float (`1.0`): PyTorch tells them apart.
struct NumberMark {
  double value = 0;
  bool is_integer = false;
  friend bool operator==(const NumberMark&, const NumberMark&) = default;
};

/// Facts about a node that aren't arguments. Every field has the name and meaning of its key in `sapwood.graph/1`.
struct NodeMeta {
  PartitionerTag partitioner_tag = PartitionerTag::kNone;
  CheckpointPolicy recompute = CheckpointPolicy::kNone;
  std::optional<int64_t> ac_graph_id;
  bool has_backward_hook = false;
  bool autograd_backward = false;
  std::optional<NumberMark> memory_budget;
  std::optional<int64_t> seq_nr;
  bool saved_tensor_with_no_vc_check = false;
  bool saved_for_quantization = false;
  bool is_gradient_acc = false;
  bool is_functional_regenerated = false;
  std::string quantization_tag;
  std::optional<double> region_memory_budget;            ///< `custom._region_activation_memory_budget`
  std::vector<std::pair<std::string, Argument>> custom;  ///< every other entry of `custom`: the user's own annotations
  bool tensor_meta = false;
  std::string original_aten;
  std::vector<std::string> desc;  ///< one text for a placeholder, one per output for the output node
  std::vector<std::pair<std::string, std::string>> unbacked_bindings;
  std::string stack_trace;  ///< "file.cpp:12, in function, code"
  std::string nn_module;
  std::optional<int64_t> mutation_region_id;
  bool impure = false;  ///< dead-code elimination must keep the node
  std::optional<int64_t> flops;
  std::vector<std::string> hop;  ///< parameter names of a higher-order operator

  friend bool operator==(const NodeMeta&, const NodeMeta&) = default;
};

/// One SSA value. Owned by its Graph; mutate only through the Graph, which keeps `users` and the order right.
struct Node {
  NodeId id = kNoNode;
  NodeKind kind = NodeKind::kCallFunction;
  std::string name;   ///< unique in the graph, stable
  SharedText target;  ///< "aten.mm.default", "operator.getitem", or the placeholder / attribute name
  ArgumentList args;
  std::vector<std::pair<std::string, Argument>> kwargs;
  Shared<Value> val;  ///< none: no metadata (the output node, a module attribute)
  Shared<NodeMeta> meta;
  std::vector<NodeId> users;  ///< each user once, in the order in which it became one
  NodeId prev = kNoNode;      ///< neighbours in graph order
  NodeId next = kNoNode;
  bool erased = false;

  /// The tensor that this node yields, or null.
  const TensorMeta* tensor() const { return val ? val->as<TensorMeta>() : nullptr; }
  bool is_call(std::string_view op) const { return kind == NodeKind::kCallFunction && target == op; }
};

/// What a graph says about an operator it uses (the operator's own declaration; see src/ops for what we know besides).
struct OpDecl {
  std::string schema;
  std::vector<std::string> tags;
  bool is_mutable = false;
  bool is_view = false;
  friend bool operator==(const OpDecl&, const OpDecl&) = default;
};

/// A tensor constant held by the graph. `values` only if it has at most 64 elements.
struct Attribute {
  TensorMeta tensor;
  std::optional<ArgumentList> values;
};

}  // namespace sapwood::graph
