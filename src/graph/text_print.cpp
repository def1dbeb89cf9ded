#include "graph/number_text.h"
#include "graph/text_printer.h"
#include "graph/text_words.h"

namespace sapwood::graph {

void TextPrinter::word(std::string_view text) {
  if (is_word(text)) {
    out_ += text;
  } else {
    append_quoted(text, out_);
  }
}

void TextPrinter::name(std::string_view text) {
  if (is_bare_name(text)) {
    out_ += text;
  } else {
    append_quoted(text, out_);
  }
}

std::string TextPrinter::print() {
  out_.reserve(1024 + root_.size() * 320);
  out_ += "graph ";
  word(root_.name);
  graph(root_, " {\n");
  return std::move(out_);
}

void TextPrinter::graph(const Graph& graph, std::string_view opening) {
  out_ += opening;
  indent_ += 2;
  header(graph);
  nodes(graph);
  indent_ -= 2;
  line_start();
  out_ += "}\n";
}

void TextPrinter::header(const Graph& graph) {
  const size_t begin = out_.size();
  if (!graph.producer.empty() && options_.declarations) {
    line_start();
    out_ += "producer";
    for (const auto& [key, text] : graph.producer) {
      out_ += ' ';
      is_statement(key) ? append_quoted(key, out_) : word(key);
      out_ += '=';
      append_quoted(text, out_);
    }
    out_ += '\n';
  }
  if (graph.num_forward_outputs != 0) {
    line_start();
    out_ += "num_forward_outputs ";
    append_int(graph.num_forward_outputs, out_);
    out_ += '\n';
  }
  if (!graph.static_lifetime_inputs.empty()) {
    line_start();
    out_ += "static_lifetime_inputs [";
    join(graph.static_lifetime_inputs, [&](int64_t index) { append_int(index, out_); });
    out_ += "]\n";
  }
  for (const auto& [key, info] : graph.symbols) symbol(key, info);
  if (options_.declarations) {
    for (const auto& [key, decl] : graph.ops) op(key, decl);
    for (const auto& [key, entry] : graph.attributes) attribute(key, entry);
  }
  for (const auto& [key, body] : graph.subgraphs) {
    line_start();
    out_ += "subgraph ";
    word(key);
    if (body->name != key) {
      out_ += " named ";
      word(body->name);
    }
    this->graph(*body, " {\n");
  }
  if (out_.size() > begin && graph.size() > 0) out_ += '\n';
}

void TextPrinter::symbol(std::string_view name, const SymbolInfo& info) {
  line_start();
  out_ += "symbol ";
  word(name);
  if (info.hint) {
    out_ += " = ";
    append_int(*info.hint, out_);
  }
  if (info.lower || info.upper) {
    out_ += " in [";
    info.lower ? append_int(*info.lower, out_) : void(out_ += "-inf");
    out_ += ", ";
    info.upper ? append_int(*info.upper, out_) : void(out_ += "inf");
    out_ += ']';
  }
  out_ += info.unbacked ? " unbacked\n" : "\n";
}

void TextPrinter::op(std::string_view name, const OpDecl& op) {
  line_start();
  out_ += "op ";
  word(name);
  out_ += ' ';
  append_quoted(op.schema, out_);
  if (!op.tags.empty()) {
    out_ += " [";
    join(op.tags, [&](const std::string& tag) { word(tag); });
    out_ += ']';
  }
  if (op.is_mutable) out_ += " mutable";
  if (op.is_view) out_ += " view";
  out_ += '\n';
}

void TextPrinter::attribute(std::string_view name, const Attribute& attribute) {
  line_start();
  out_ += "attribute ";
  word(name);
  out_ += " : ";
  tensor(attribute.tensor, false);
  if (attribute.values) {
    out_ += " = [";
    items(*attribute.values);
    out_ += ']';
  }
  out_ += '\n';
}

void TextPrinter::nodes(const Graph& graph) {
  const Graph* outer_graph = std::exchange(graph_, &graph);
  auto outer_holders = storages_.enter();
  position_.assign(graph.id_bound(), 0);
  int32_t position = 0;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) position_[static_cast<size_t>(id)] = position++;
  for (NodeId id = graph.first(); id != kNoNode; id = graph[id].next) node(graph[id]);
  storages_.leave(std::move(outer_holders));
  graph_ = outer_graph;
}

void TextPrinter::node(const Node& node) {
  node_ = &node;
  line_start();
  const bool plain_output = node.kind == NodeKind::kOutput && node.name == "output" && !node.val;
  if (!plain_output) {
    out_ += '%';
    name(node.name);
    if (node.val) {
      out_ += " : ";
      value(*node.val, true);
    }
    out_ += " = ";
  }
  if (node.kind == NodeKind::kOutput) {
    output(node);
  } else {
    callee(node);
  }
  if (options_.metadata) meta(node);
  out_ += '\n';
}

void TextPrinter::at_target(const Node& node, std::string_view usual) {
  if (node.target == usual) return;
  out_ += " @";
  word(node.target);
}

void TextPrinter::callee(const Node& node) {
  if (node.kind == NodeKind::kCallFunction) {
    if (is_reserved_target(node.target)) {
      append_quoted(node.target, out_);
    } else {
      word(node.target);
    }
    call_arguments(node);
    return;
  }
  out_ += node.kind == NodeKind::kPlaceholder ? "placeholder" : "get_attr";
  at_target(node, node.name);
  if (!node.args.empty() || !node.kwargs.empty()) call_arguments(node);
}

void TextPrinter::output(const Node& node) {
  const ListArg* list = node.args.size() == 1 && node.kwargs.empty() ? node.args[0].as<ListArg>() : nullptr;
  out_ += list != nullptr ? "return" : "return_args";
  at_target(node, "output");
  if (list == nullptr) return call_arguments(node);
  out_ += " (";
  items(list->items);
  out_ += ')';
}

std::string print_text(const Graph& graph, const TextOptions& options) { return TextPrinter(graph, options).print(); }

}  // namespace sapwood::graph
