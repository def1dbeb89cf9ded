#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/text.h"
#include "graph/text_defaults.h"

namespace sapwood::graph {

/// Prints a Graph in the readable form. One object prints one graph.
class TextPrinter {
 public:
  /// `graph` must outlive the printer.
  TextPrinter(const Graph& graph, const TextOptions& options) : root_(graph), options_(options) {}
  std::string print();

 private:
  // text_print.cpp
  void graph(const Graph& graph, std::string_view opening);
  void header(const Graph& graph);
  void symbol(std::string_view name, const SymbolInfo& info);
  void op(std::string_view name, const OpDecl& op);
  void attribute(std::string_view name, const Attribute& attribute);
  void nodes(const Graph& graph);
  void node(const Node& node);
  void callee(const Node& node);
  void output(const Node& node);
  void at_target(const Node& node, std::string_view usual);

  // text_print_meta.cpp
  void meta(const Node& node);
  void meta_policies(const NodeMeta& meta);
  void meta_texts(const NodeMeta& meta);
  void users(const Node& node);
  void key(std::string_view name);
  void flag(std::string_view name, bool set);
  void count(std::string_view name, const std::optional<int64_t>& value);
  void text(std::string_view name, std::string_view value);

  // text_print_value.cpp
  void argument(const Argument& arg);
  void items(const ArgumentList& list);
  void tuple(const ArgumentList& list);
  void dict(const std::vector<std::pair<std::string, Argument>>& entries);
  void call_arguments(const Node& node);
  void named(std::string_view function, std::string_view text);
  void node_name(NodeId id);
  void value(const Value& val, bool whole);
  void values(const std::vector<Value>& list, char open, char close);
  void tensor(const TensorMeta& tensor, bool whole);
  void tensor_details(const TensorMeta& tensor, bool whole);
  void storage_details(const TensorMeta& tensor, bool whole);
  void detail(std::string_view name);
  void optional_size(std::string_view name, const std::optional<SymExpr>& value, const std::optional<SymExpr>& usual);
  void sizes(const std::vector<SymExpr>& list, char open, char close);
  void size(const SymExpr& expr);

  void line_start() { out_.append(indent_, ' '); }
  /// A bare word where that reads back, otherwise a quoted string.
  void word(std::string_view text);
  /// A bare name or a quoted string.
  void name(std::string_view text);
  template <typename Items, typename Each>
  void join(const Items& list, Each&& each) {
    bool first = true;
    for (const auto& item : list) {
      if (!first) out_ += ", ";
      first = false;
      each(item);
    }
  }

  const Graph& root_;
  const TextOptions& options_;
  const Graph* graph_ = nullptr;  // whose nodes are being printed
  const Node* node_ = nullptr;    // whose value is being printed
  std::vector<int32_t> position_;
  StorageNumbers storages_;
  std::string out_;
  size_t indent_ = 0;
  bool details_open_ = false;
};

}  // namespace sapwood::graph
