#include <algorithm>

#include "graph/json_names.h"
#include "graph/number_text.h"
#include "graph/text_printer.h"

namespace sapwood::graph {

void TextPrinter::key(std::string_view name) {
  out_ += ' ';
  out_ += name;
}

void TextPrinter::flag(std::string_view name, bool set) {
  if (set) key(name);
}

void TextPrinter::count(std::string_view name, const std::optional<int64_t>& value) {
  if (!value) return;
  key(name);
  out_ += '=';
  append_int(*value, out_);
}

void TextPrinter::text(std::string_view name, std::string_view value) {
  if (value.empty()) return;
  key(name);
  out_ += '=';
  word(value);
}

/// "  # key=value ..." or nothing if every fact is the usual one. What a reader looks for first comes first.
void TextPrinter::meta(const Node& node) {
  const size_t before = out_.size();
  out_ += "  #";
  const size_t begin = out_.size();
  meta_policies(*node.meta);
  users(node);
  if (node.meta->tensor_meta != has_tensor(node.val))
    key(node.meta->tensor_meta ? "tensor_meta=true" : "tensor_meta=false");
  meta_texts(*node.meta);
  if (out_.size() == begin) out_.resize(before);
}

void TextPrinter::meta_policies(const NodeMeta& m) {
  const auto real = [&](std::string_view name, const std::optional<double>& value) {
    if (value) key(name), append_float(*value, out_);
  };
  text("partitioner_tag", partitioner_tag_name(m.partitioner_tag));
  text("recompute", checkpoint_policy_name(m.recompute));
  count("ac_graph_id", m.ac_graph_id);
  flag("has_backward_hook", m.has_backward_hook);
  flag("autograd_backward", m.autograd_backward);
  if (m.memory_budget) key("memory_budget="), append_number(*m.memory_budget, out_);
  real("region_memory_budget=", m.region_memory_budget);
  flag("saved_tensor_with_no_vc_check", m.saved_tensor_with_no_vc_check);
  flag("saved_for_quantization", m.saved_for_quantization);
  flag("is_gradient_acc", m.is_gradient_acc);
  flag("is_functional_regenerated", m.is_functional_regenerated);
  text("quantization_tag", m.quantization_tag);
  count("mutation_region_id", m.mutation_region_id);
  flag("impure", m.impure);
  count("flops", m.flops);
  count("seq_nr", m.seq_nr);
}

void TextPrinter::meta_texts(const NodeMeta& m) {
  const auto strings = [&](std::string_view name, const std::vector<std::string>& list) {
    if (list.empty()) return;
    key(name);
    out_ += "[";
    join(list, [&](const std::string& item) { word(item); });
    out_ += "]";
  };
  if (!m.custom.empty()) key("custom="), dict(m.custom);
  if (!m.unbacked_bindings.empty()) {
    key("unbacked_bindings={");
    join(m.unbacked_bindings, [&](const auto& entry) {
      word(entry.first);
      out_ += ": ";
      append_quoted(entry.second, out_);
    });
    out_ += '}';
  }
  strings("hop=", m.hop);
  if (m.desc.size() == 1) {
    text("desc", m.desc.front().empty() ? "" : m.desc.front());
    if (m.desc.front().empty()) key("desc=\"\"");
  } else {
    strings("desc=", m.desc);
  }
  text("original_aten", m.original_aten);
  text("nn_module", m.nn_module);
  if (!m.stack_trace.empty()) key("stack_trace="), append_quoted(m.stack_trace, out_);
}

void TextPrinter::users(const Node& node) {
  const auto before = [&](NodeId a, NodeId b) {
    return position_[static_cast<size_t>(a)] < position_[static_cast<size_t>(b)];
  };
  if (std::is_sorted(node.users.begin(), node.users.end(), before)) return;
  key("users=[");
  join(node.users, [&](NodeId id) { node_name(id); });
  out_ += ']';
}

}  // namespace sapwood::graph
