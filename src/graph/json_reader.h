#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/json_cursor.h"

namespace sapwood::graph {

/// Builds a Graph from `sapwood.graph/1` text in one pass. One object reads one text.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : in_(text) {}

  /// Errors: user error with path, node, expectation and remedy.
  Graph read();

 private:
  struct Scope;     // the graph that is being filled, with user orders to be resolved at its end
  struct SymText {  // a symbolic expression, parsed once per spelling
    SymExpr expr;
    std::optional<int64_t> hint;
  };
  struct HintCheck {  // made when the symbol table comes after its use
    std::string path;
    std::string text;
    std::optional<int64_t> hint;
  };

  // json_read.cpp
  void read_header(size_t key, Graph& graph);
  void read_symbols(Graph& graph);
  void read_ops(Graph& graph);
  void read_body(Graph& graph);
  void read_nodes(Graph& graph);
  void read_node(Scope& scope);
  void read_node_field(size_t key, Node& node, Scope& scope);
  void resolve_users(Scope& scope);
  void read_subgraphs(Graph& graph);
  void read_attributes(Graph& graph);

  // json_read_meta.cpp
  NodeMeta read_meta();
  void read_meta_field(size_t key, NodeMeta& meta);
  void read_special_meta(size_t key, NodeMeta& meta);
  void read_policy(bool tag, NodeMeta& meta);
  void read_custom(NodeMeta& meta);
  std::vector<std::string> read_strings();

  // json_read_value.cpp
  Argument read_argument();
  Argument read_tagged_argument();
  Argument read_tagged(size_t key);
  Argument read_float_word();
  ArgumentList read_arguments();
  std::vector<std::pair<std::string, Argument>> read_named_arguments();
  NodeId read_node_name();
  Value read_value();
  Value read_tagged_value(size_t key);
  std::vector<Value> read_values();
  TensorMeta read_tensor();
  void read_tensor_field(size_t key, TensorMeta& tensor);
  DType read_dtype();
  Layout read_layout();
  Device read_device();
  std::vector<SymExpr> read_sizes(bool negative_allowed);
  SymExpr read_size(bool negative_allowed);
  SymExpr read_symbolic_size();
  SymExpr read_expression(std::string& text);
  void read_hints(size_t key, std::optional<int64_t>& hint);
  void check_hint(const std::string& text, const std::optional<int64_t>& hint);
  const SymText& symbolic(const std::string& text);

  JsonCursor in_;
  Graph* graph_ = nullptr;                // whose nodes are being read
  const SymbolTable* symbols_ = nullptr;  // of the outermost graph
  bool symbols_known_ = false;
  size_t value_depth_ = 0;
  std::unordered_map<std::string, SymText> expressions_;
  std::vector<HintCheck> late_checks_;
};

}  // namespace sapwood::graph
