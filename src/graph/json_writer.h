#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace sapwood::graph {

/// Prints a Graph as `sapwood.graph/1`: compact, keys in the order of the format's description, one node per line. One
/// object prints one graph.
class JsonWriter {
 public:
  /// `graph` must outlive the writer.
  explicit JsonWriter(const Graph& graph) : root_(graph) {}
  std::string write();

 private:
  // json_write.cpp
  void header();
  void body(const Graph& graph);
  void node(const Graph& graph, const Node& node, const std::vector<int32_t>& position);
  void users(const Graph& graph, const Node& node, const std::vector<int32_t>& position);
  void meta(const Node& node);
  void custom(const NodeMeta& meta);

  // json_write_value.cpp
  void arguments(const ArgumentList& items);
  void named_arguments(const std::vector<std::pair<std::string, Argument>>& items);
  void argument(const Argument& arg);
  void float_argument(double value);
  void value(const Value& val);
  void values(const std::vector<Value>& items);
  void tensor(const TensorMeta& tensor);
  void sizes(const std::vector<SymExpr>& items);
  void size(const SymExpr& expr, bool fallback);
  void hints(const SymExpr& expr, bool fallback);

  void string(std::string_view text);
  void strings(const std::vector<std::string>& items);
  void integer(int64_t value);
  void optional_integer(const std::optional<int64_t>& value);
  void boolean(bool value) { out_ += value ? "true" : "false"; }
  /// Calls `each(item)` with commas between.
  template <typename Items, typename Each>
  void join(const Items& items, char open, char close, Each&& each) {
    out_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      each(item);
    }
    out_ += close;
  }

  const Graph& root_;
  const Graph* graph_ = nullptr;  // whose nodes are being printed
  std::string out_;
};

}  // namespace sapwood::graph
