#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/json_reader.h"
#include "graph/text.h"

namespace sapwood::graph {

namespace {

constexpr size_t kMaxNodes = size_t{1} << 24;

constexpr std::array<std::string_view, 10> kGraphKeys = {
    "format",  "name", "producer", "num_fwd_outputs", "static_lifetime_input_indices",
    "symbols", "ops",  "nodes",    "subgraphs",       "attributes"};
constexpr size_t kFormatKey = 0, kNameKey = 1, kBodyKeys = 7;

constexpr std::array<std::string_view, 8> kNodeKeys = {"name",   "op",   "target", "args",
                                                       "kwargs", "meta", "val",    "users"};
constexpr std::array<std::string_view, 4> kSymbolKeys = {"hint", "lower", "upper", "unbacked"};
constexpr std::array<std::string_view, 4> kOpKeys = {"schema", "tags", "is_mutable", "is_view"};
constexpr std::array<std::string_view, 2> kAttributeKeys = {"tensor", "values"};

bool same_elements(std::vector<NodeId> a, std::vector<NodeId> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

/// The graph that is being filled. User orders name later nodes, so they wait for the end of the list.
struct JsonReader::Scope {
  struct Users {
    NodeId node;
    std::vector<std::string> names;
    std::string path;
  };
  Graph& graph;
  std::vector<Users> users;
  std::vector<std::string> node_users;  // of the node being read
  bool has_users = false;
};

Graph JsonReader::read() {
  Graph graph;
  symbols_ = &graph.symbols;
  in_.fields(kGraphKeys, kGraphKeys.size(), [&](size_t key) { read_header(key, graph); });
  in_.finish();
  for (const HintCheck& check : late_checks_) {
    const SymText& known = symbolic(check.text);
    if (check.hint && known.hint != check.hint)
      in_.fail(check.path + ": " + hint_mismatch(check.text, *check.hint, known.hint));
  }
  return graph;
}

void JsonReader::read_header(size_t key, Graph& graph) {
  const auto count = [&] {
    const int64_t n = in_.integer();
    if (n < 0) in_.fail("expected a count of at least 0, got " + std::to_string(n));
    return n;
  };
  switch (key) {
    case kFormatKey:
      if (const std::string format = in_.string(); format != kJsonFormat) {
        in_.fail("expected " + quoted_excerpt(kJsonFormat) + ", got " + quoted_excerpt(format) +
                 "; write the graph again in this format");
      }
      return;
    case kNameKey:
      graph.name = in_.string();
      return;
    case 2:
      in_.object([&](std::string_view name) { graph.producer.emplace_back(name, in_.string()); });
      return;
    case 3:
      graph.num_forward_outputs = count();
      return;
    case 4:
      in_.array([&](size_t) { graph.static_lifetime_inputs.push_back(count()); });
      return;
    case 5:
      read_symbols(graph);
      return;
    case 6:
      read_ops(graph);
      return;
    case kBodyKeys:
      read_nodes(graph);
      return;
    case kBodyKeys + 1:
      read_subgraphs(graph);
      return;
    default:
      read_attributes(graph);
      return;
  }
}

void JsonReader::read_symbols(Graph& graph) {
  const auto bound = [&]() -> std::optional<int64_t> {
    if (in_.take_null()) return std::nullopt;
    return in_.integer();
  };
  in_.object([&](std::string_view name) {
    SymbolInfo info;
    const auto [entry, fresh] = graph.symbols.try_emplace(std::string(name));
    if (!fresh) in_.fail("the symbol is declared twice; keep one");
    in_.fields(kSymbolKeys, kSymbolKeys.size(), [&](size_t key) {
      if (key == 3) {
        info.unbacked = in_.boolean();
      } else {
        (key == 0 ? info.hint : key == 1 ? info.lower : info.upper) = bound();
      }
    });
    entry->second = info;
  });
  symbols_known_ = true;
  expressions_.clear();  // their hints were taken without the table
}

void JsonReader::read_ops(Graph& graph) {
  in_.object([&](std::string_view name) {
    const auto [entry, fresh] = graph.ops.try_emplace(std::string(name));
    if (!fresh) in_.fail("the operator is declared twice; keep one");
    OpDecl& op = entry->second;
    in_.fields(kOpKeys, kOpKeys.size(), [&](size_t key) {
      if (key == 0) op.schema = in_.string();
      if (key == 1) op.tags = read_strings();
      if (key == 2) op.is_mutable = in_.boolean();
      if (key == 3) op.is_view = in_.boolean();
    });
  });
}

void JsonReader::read_body(Graph& graph) {
  constexpr auto keys = std::span(kGraphKeys).subspan(kBodyKeys);
  in_.fields(keys, keys.size(), [&](size_t key) { read_header(kBodyKeys + key, graph); });
}

void JsonReader::read_subgraphs(Graph& graph) {
  in_.object([&](std::string_view name) {
    const auto [entry, fresh] = graph.subgraphs.try_emplace(std::string(name));
    if (!fresh) in_.fail("the subgraph occurs twice; keep one");
    entry->second = std::make_shared<Graph>();
    entry->second->name = entry->first;
    read_body(*entry->second);
  });
}

void JsonReader::read_attributes(Graph& graph) {
  in_.object([&](std::string_view name) {
    const auto [entry, fresh] = graph.attributes.try_emplace(std::string(name));
    if (!fresh) in_.fail("the attribute occurs twice; keep one");
    in_.fields(kAttributeKeys, 1, [&](size_t key) {
      if (key == 0) {
        entry->second.tensor = read_tensor();
      } else {
        entry->second.values = read_arguments();
      }
    });
  });
}

void JsonReader::read_nodes(Graph& graph) {
  Graph* outer = std::exchange(graph_, &graph);
  Scope scope{graph, {}, {}, false};
  in_.array([&](size_t) { read_node(scope); }, kMaxNodes);
  resolve_users(scope);
  graph_ = outer;
}

void JsonReader::read_node(Scope& scope) {
  const NodeId last = scope.graph.last();
  if (last != kNoNode && scope.graph[last].kind == NodeKind::kOutput)
    in_.fail("a node after the output node; the output must be the last");
  Node node;
  scope.has_users = false;
  in_.fields(kNodeKeys, 6, [&](size_t key) { read_node_field(key, node, scope); });
  const NodeId id = scope.graph.add(std::move(node));
  if (scope.has_users) scope.users.push_back({id, std::move(scope.node_users), in_.path() + ".users"});
  in_.set_node({});
}

void JsonReader::read_node_field(size_t key, Node& node, Scope& scope) {
  switch (key) {
    case 0:
      node.name = in_.string();
      if (node.name.empty()) in_.fail("expected a name, got an empty string");
      if (scope.graph.find(node.name) != kNoNode) {
        in_.fail("the name " + quoted_excerpt(node.name) + " is taken by an earlier node; node names must be unique");
      }
      in_.set_node(node.name);
      return;
    case 1:
      if (const std::string op = in_.string(); !node_kind_from_name(op, node.kind)) {
        in_.fail("unknown kind of node " + quoted_excerpt(op) +
                 "; expected placeholder, get_attr, call_function or output");
      }
      return;
    case 2:
      node.target = in_.string();
      return;
    case 3:
      node.args = read_arguments();
      return;
    case 4:
      node.kwargs = read_named_arguments();
      return;
    case 5:
      node.meta = read_meta();
      return;
    case 6:
      node.val = read_value();
      return;
    default:
      scope.has_users = true;
      scope.node_users = read_strings();
      return;
  }
}

void JsonReader::resolve_users(Scope& scope) {
  for (const Scope::Users& entry : scope.users) {
    std::vector<NodeId> order;
    for (const std::string& name : entry.names) {
      order.push_back(scope.graph.find(name));
      if (order.back() == kNoNode)
        in_.fail(entry.path + ": unknown node " + quoted_excerpt(name) + "; list the nodes that read this one");
    }
    if (!same_elements(order, scope.graph[entry.node].users)) {
      in_.fail(entry.path + ": expected exactly the nodes that read " + quoted_excerpt(scope.graph[entry.node].name) +
               ", each once; remove the key to have them in graph order");
    }
    scope.graph.set_user_order(entry.node, std::move(order));
  }
}

Graph parse_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace sapwood::graph
