#include <algorithm>

#include "graph/json_names.h"
#include "graph/json_writer.h"
#include "graph/number_text.h"
#include "graph/text.h"

namespace sapwood::graph {

void JsonWriter::string(std::string_view text) { append_quoted(text, out_); }
void JsonWriter::integer(int64_t value) { append_int(value, out_); }

void JsonWriter::strings(const std::vector<std::string>& items) {
  join(items, '[', ']', [&](const std::string& item) { string(item); });
}

void JsonWriter::optional_integer(const std::optional<int64_t>& value) {
  if (value) {
    integer(*value);
  } else {
    out_ += "null";
  }
}

std::string JsonWriter::write() {
  out_.reserve(1024 + root_.size() * 640);
  header();
  body(root_);
  out_ += "}\n";
  return std::move(out_);
}

void JsonWriter::header() {
  out_ += "{\"format\":";
  string(kJsonFormat);
  out_ += ",\"name\":";
  string(root_.name);
  out_ += ",\"producer\":";
  join(root_.producer, '{', '}', [&](const auto& entry) {
    string(entry.first);
    out_ += ':';
    string(entry.second);
  });
  out_ += ",\"num_fwd_outputs\":";
  integer(root_.num_forward_outputs);
  out_ += ",\"static_lifetime_input_indices\":";
  join(root_.static_lifetime_inputs, '[', ']', [&](int64_t index) { integer(index); });
  out_ += ",\"symbols\":";
  join(root_.symbols, '{', '}', [&](const auto& entry) {
    string(entry.first);
    out_ += ":{\"hint\":";
    optional_integer(entry.second.hint);
    out_ += ",\"lower\":";
    optional_integer(entry.second.lower);
    out_ += ",\"upper\":";
    optional_integer(entry.second.upper);
    out_ += ",\"unbacked\":";
    boolean(entry.second.unbacked);
    out_ += '}';
  });
  out_ += ",\"ops\":";
  join(root_.ops, '{', '}', [&](const auto& entry) {
    string(entry.first);
    out_ += ":{\"schema\":";
    string(entry.second.schema);
    out_ += ",\"tags\":";
    strings(entry.second.tags);
    out_ += ",\"is_mutable\":";
    boolean(entry.second.is_mutable);
    out_ += ",\"is_view\":";
    boolean(entry.second.is_view);
    out_ += '}';
  });
  out_ += ',';
}

void JsonWriter::body(const Graph& graph) {
  const Graph* outer = std::exchange(graph_, &graph);
  const std::vector<NodeId> order = graph.order();
  std::vector<int32_t> position(graph.id_bound());
  for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  out_ += "\"nodes\":";
  join(order, '[', ']', [&](NodeId id) {
    out_ += '\n';
    node(graph, graph[id], position);
  });
  out_ += ",\n\"subgraphs\":";
  join(graph.subgraphs, '{', '}', [&](const auto& entry) {
    string(entry.first);
    out_ += ":{";
    body(*entry.second);
    out_ += '}';
  });
  out_ += ",\"attributes\":";
  join(graph.attributes, '{', '}', [&](const auto& entry) {
    string(entry.first);
    out_ += ":{\"tensor\":";
    tensor(entry.second.tensor);
    if (entry.second.values) {
      out_ += ",\"values\":";
      arguments(*entry.second.values);
    }
    out_ += '}';
  });
  graph_ = outer;
}

void JsonWriter::node(const Graph& graph, const Node& node, const std::vector<int32_t>& position) {
  out_ += "{\"name\":";
  string(node.name);
  out_ += ",\"op\":";
  string(node_kind_name(node.kind));
  out_ += ",\"target\":";
  string(node.target);
  out_ += ",\"args\":";
  arguments(node.args);
  out_ += ",\"kwargs\":";
  named_arguments(node.kwargs);
  if (node.val) {
    out_ += ",\"val\":";
    value(*node.val);
  }
  users(graph, node, position);
  out_ += ",\"meta\":";
  meta(node);
  out_ += '}';
}

void JsonWriter::users(const Graph& graph, const Node& node, const std::vector<int32_t>& position) {
  const auto before = [&](NodeId a, NodeId b) {
    return position[static_cast<size_t>(a)] < position[static_cast<size_t>(b)];
  };
  if (std::is_sorted(node.users.begin(), node.users.end(), before)) return;
  out_ += ",\"users\":";
  join(node.users, '[', ']', [&](NodeId id) { string(graph[id].name); });
}

void JsonWriter::meta(const Node& node) {
  const NodeMeta& m = *node.meta;
  bool first = true;
  const auto key = [&](std::string_view name) {
    out_ += first ? '{' : ',';
    first = false;
    string(name);
    out_ += ':';
  };
  const auto text = [&](std::string_view name, std::string_view v) {
    if (!v.empty()) key(name), string(v);
  };
  const auto flag = [&](std::string_view name, bool v) {
    if (v) key(name), out_ += "true";
  };
  const auto count = [&](std::string_view name, const std::optional<int64_t>& v) {
    if (v) key(name), integer(*v);
  };
  text("partitioner_tag", partitioner_tag_name(m.partitioner_tag));
  text("recompute", checkpoint_policy_name(m.recompute));
  count("ac_graph_id", m.ac_graph_id);
  flag("has_backward_hook", m.has_backward_hook);
  flag("autograd_backward", m.autograd_backward);
  if (m.memory_budget) key("memory_budget"), append_number(*m.memory_budget, out_);
  count("seq_nr", m.seq_nr);
  flag("saved_tensor_with_no_vc_check", m.saved_tensor_with_no_vc_check);
  flag("saved_for_quantization", m.saved_for_quantization);
  flag("is_gradient_acc", m.is_gradient_acc);
  flag("is_functional_regenerated", m.is_functional_regenerated);
  text("quantization_tag", m.quantization_tag);
  if (m.region_memory_budget || !m.custom.empty()) key("custom"), custom(m);
  text("stack_trace", m.stack_trace);
  text("nn_module", m.nn_module);
  text("original_aten", m.original_aten);
  if (!m.desc.empty()) {
    key("desc");
    const bool single = node.kind != NodeKind::kOutput && m.desc.size() == 1;
    single ? string(m.desc.front()) : strings(m.desc);
  }
  if (!m.unbacked_bindings.empty()) {
    key("unbacked_bindings");
    join(m.unbacked_bindings, '{', '}',
         [&](const auto& entry) { string(entry.first), out_ += ':', string(entry.second); });
  }
  flag("tensor_meta", m.tensor_meta);
  count("mutation_region_id", m.mutation_region_id);
  flag("impure", m.impure);
  count("flops", m.flops);
  if (!m.hop.empty()) key("hop"), strings(m.hop);
  out_ += first ? "{}" : "}";
}

void JsonWriter::custom(const NodeMeta& meta) {
  out_ += '{';
  if (meta.region_memory_budget) {
    string(kRegionBudgetKey);
    out_ += ':';
    append_float(*meta.region_memory_budget, out_);
  }
  for (const auto& [name, entry] : meta.custom) {
    if (out_.back() != '{') out_ += ',';
    string(name);
    out_ += ':';
    argument(entry);
  }
  out_ += '}';
}

std::string print_json(const Graph& graph) { return JsonWriter(graph).write(); }

}  // namespace sapwood::graph
