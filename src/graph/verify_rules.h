#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/verify.h"

namespace sapwood::graph {

/// Collects what the rules find in one graph. Not owned: the graph, the symbols (those of the outermost graph).
class VerifyContext {
 public:
  VerifyContext(const Graph& graph, const Graph& outermost, std::vector<Violation>& found);

  const Graph& graph;
  const Graph& outermost;        ///< declares symbols and operators for its subgraphs
  std::vector<NodeId> order;     ///< live nodes in graph order; filled once the links are known to be sound
  std::vector<size_t> position;  ///< by id: index in `order`, kNowhere for nodes that aren't in it

  static constexpr size_t kNowhere = static_cast<size_t>(-1);

  bool is_subgraph() const { return &graph != &outermost; }
  bool is_live(NodeId id) const {
    return id >= 0 && static_cast<size_t>(id) < position.size() && position[static_cast<size_t>(id)] != kNowhere;
  }
  /// Reports a broken rule at a node, or for the graph as a whole (kNoNode).
  void report(std::string_view rule, NodeId node, const std::string& what);

 private:
  std::vector<Violation>& found_;
};

/// Whether the links form one list; fills `order` and `position` if so. Nothing else can be checked without them.
bool verify_links(VerifyContext& context);
/// Names, arguments, users, order, placeholders, output.
void verify_structure(VerifyContext& context);
/// Targets of calls and attributes, getitem, tags, what the graph says of itself.
void verify_meaning(VerifyContext& context);
/// Shapes, strides, storages and symbols of every value.
void verify_values(VerifyContext& context);

}  // namespace sapwood::graph
