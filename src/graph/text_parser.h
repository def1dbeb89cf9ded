#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/text_defaults.h"
#include "graph/text_lexer.h"

namespace sapwood::graph {

/// Builds a Graph from the readable form by recursive descent. One object parses one text.
class TextParser {
 public:
  explicit TextParser(std::string_view text) : in_(text) {}
  /// Errors: user error with line, column and remedy.
  Graph parse();

 private:
  static constexpr size_t kMaxDepth =
      600;  // more than the JSON form takes, so that whatever was read can be printed and read
  static constexpr size_t kMaxItems = size_t{1} << 20;
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  /// What the text of one tensor left open; settled once its node's arguments are known.
  struct OpenTensor {
    bool stride = true, offset = true, number = true, bytes = true;  // not given
    size_t begin = 0;
  };
  struct UserOrder {
    NodeId node;
    std::vector<std::string> names;
    size_t begin;
  };

  // text_parse.cpp
  void parse_graph(Graph& graph);
  void parse_items(Graph& graph);
  bool parse_header(Graph& graph);
  void parse_producer(Graph& graph);
  void parse_symbol(Graph& graph);
  void parse_bounds(SymbolInfo& info);
  void parse_op(Graph& graph);
  void parse_attribute(Graph& graph);
  void parse_subgraph(Graph& graph);
  void parse_node(Graph& graph);
  void parse_callee(Node& node);
  void parse_leaf(Node& node, NodeKind kind);
  void parse_return(Node& node, bool general);
  void check_new_name(const Graph& graph, const Token& token);
  void resolve_users(Graph& graph, std::span<const UserOrder> orders);

  // text_parse_meta.cpp
  void parse_meta(Node& node);
  bool parse_flag(NodeMeta& meta, std::string_view key);
  void parse_fact(Node& node, std::string_view key, size_t begin);
  bool parse_number_fact(NodeMeta& meta, std::string_view key);
  bool parse_text_fact(NodeMeta& meta, std::string_view key);
  void parse_policy(NodeMeta& meta, bool tag);
  void parse_bindings(NodeMeta& meta);
  std::vector<std::string> parse_words();

  // text_parse_argument.cpp
  Argument parse_argument();
  Argument parse_number();
  Argument parse_word_argument(std::string_view word, size_t begin);
  Argument parse_function(std::string_view function, size_t begin);
  Argument parse_constant(std::string_view word, size_t begin);
  Argument parse_tuple();
  ArgumentList parse_items(char close);
  std::vector<std::pair<std::string, Argument>> parse_dict();
  void parse_call_arguments(Node& node);
  NodeId parse_node_reference();
  [[noreturn]] void fail_unknown_node(const std::string& name, size_t begin);
  int64_t parse_int();
  double parse_real();
  std::string parse_text(std::string_view what);
  std::string parse_word_or_string(std::string_view what);

  // text_parse_type.cpp
  Value parse_value();
  std::vector<Value> parse_values(char close);
  Value parse_dict_value();
  Value parse_word_value();
  TensorMeta parse_tensor();
  void parse_details(TensorMeta& tensor, OpenTensor& open);
  void parse_detail(std::string_view key, TensorMeta& tensor, OpenTensor& open);
  void parse_storage(TensorMeta& tensor);
  void parse_alias(TensorMeta& tensor);
  std::vector<SymExpr> parse_sizes(char close);
  SymExpr parse_size(std::string_view ends);
  SymExpr expression(std::string_view text, size_t begin);
  void settle(const Node& node, Value& val, bool whole);
  void settle_tensor(const Node* node, TensorMeta& tensor, bool whole);

  void deeper();
  void count_item(size_t count);

  TextLexer in_;
  Graph* graph_ = nullptr;                // whose nodes are being read
  const SymbolTable* symbols_ = nullptr;  // of the outermost graph
  StorageNumbers storages_;
  std::vector<OpenTensor> open_;  // of the node being read, in the order of the text
  size_t settled_ = 0;
  std::vector<UserOrder>* orders_ = nullptr;
  std::unordered_map<std::string, SymExpr> expressions_;
  std::string node_name_;         // of the node being read
  bool has_tensor_meta_ = false;  // the node's text says so
  size_t depth_ = 0;
};

}  // namespace sapwood::graph
