#include "cli/diagram.h"

#include <string_view>

namespace sapwood::cli {

namespace {

using graph::Node;
using graph::NodeKind;
using graph::PartitionerTag;

std::string tensor_type(const graph::TensorMeta& tensor) {
  std::string out(graph::dtype_name(tensor.dtype));
  out += '[';
  for (size_t i = 0; i < tensor.shape.size(); ++i) out += (i == 0 ? "" : ", ") + tensor.shape[i].str();
  return out + "]";
}

std::string type_of(const graph::Value& val);

std::string types_of(const std::vector<graph::Value>& items) {
  std::string out = "(";
  for (size_t i = 0; i < items.size(); ++i) out += (i == 0 ? "" : ", ") + type_of(items[i]);
  return out + ")";
}

std::string type_of(const graph::Value& val) {
  if (const auto* tensor = val.as<graph::TensorMeta>()) return tensor_type(*tensor);
  if (const auto* tuple = val.as<graph::TupleValue>()) return types_of(tuple->items);
  if (const auto* list = val.as<graph::ListValue>()) return types_of(list->items);
  if (const auto* size = val.as<graph::SymIntValue>()) return "symint " + size->expr.str();
  if (val.as<graph::SymFloatValue>() != nullptr) return "symfloat";
  if (val.as<graph::SymBoolValue>() != nullptr) return "symbool";
  return val.as<graph::NoneValue>() != nullptr ? "None" : "";
}

std::string_view fill_of(const Node& node) {
  if (node.kind == NodeKind::kPlaceholder || node.kind == NodeKind::kGetAttr) return "#eeeeee";
  if (node.kind == NodeKind::kOutput) return "#dddddd";
  switch (node.meta->partitioner_tag) {
    case PartitionerTag::kForward:
    case PartitionerTag::kMustBeInForward:
      return "#cfe2f3";
    case PartitionerTag::kBackward:
    case PartitionerTag::kMustBeInBackward:
      return "#fce5cd";
    case PartitionerTag::kOptimizer:
      return "#d9ead3";
    case PartitionerTag::kNone:
      return "#ffffff";
  }
  return "#ffffff";
}

void append_escaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
}

void append_node(const Node& node, std::string& out) {
  out += "  n" + std::to_string(node.id) + " [label=\"";
  append_escaped(node.name, out);
  if (node.kind == NodeKind::kCallFunction) out += "\\n", append_escaped(node.target, out);
  if (const std::string type = short_type(node); !type.empty()) out += "\\n", append_escaped(type, out);
  out += "\", fillcolor=\"";
  out += fill_of(node);
  out += node.kind == NodeKind::kCallFunction ? "\"];\n" : "\", shape=ellipse];\n";
}

}  // namespace

std::string short_type(const Node& node) { return node.val ? type_of(*node.val) : ""; }

std::string diagram(const graph::Graph& graph) {
  std::string out = "digraph \"";
  append_escaped(graph.name, out);
  out += "\" {\n  node [shape=box, style=filled, fontname=monospace, fontsize=10];\n";
  const std::vector<graph::NodeId> order = graph.order();
  for (const graph::NodeId id : order) append_node(graph[id], out);
  for (const graph::NodeId id : order) {
    for (const graph::NodeId input : graph.inputs(id))
      out += "  n" + std::to_string(input) + " -> n" + std::to_string(id) + ";\n";
  }
  return out + "}\n";
}

}  // namespace sapwood::cli
