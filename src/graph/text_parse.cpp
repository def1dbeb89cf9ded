#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/suggest.h"
#include "graph/text.h"
#include "graph/text_parser.h"
#include "graph/text_words.h"

namespace sapwood::graph {

namespace {

constexpr std::array<std::string_view, 9> kStatements = {
    "producer", "num_forward_outputs", "static_lifetime_inputs", "symbol", "op", "attribute", "subgraph",
    "return",   "return_args"};

bool same_elements(std::vector<NodeId> a, std::vector<NodeId> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

}  // namespace

void TextParser::deeper() {
  if (++depth_ > kMaxDepth) in_.fail(in_.peek().begin, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
}

void TextParser::count_item(size_t count) {
  if (count >= kMaxItems) in_.fail(in_.peek().begin, "a list of more than " + std::to_string(kMaxItems) + " elements");
}

Graph TextParser::parse() {
  if (in_.source().size() > kMaxBytes) {
    throw_user("parse", "the text has " + std::to_string(in_.source().size()) +
                            " bytes, more than the 1 GiB that is accepted; split the graph");
  }
  Graph graph;
  symbols_ = &graph.symbols;
  if (!in_.take_word("graph")) in_.fail_expected("\"graph <name> {\"");
  graph.name = parse_word_or_string("the name of the graph");
  parse_graph(graph);
  if (in_.peek().kind != TokenKind::kEnd) in_.fail_expected("the end of the text after the closing \"}\"");
  return graph;
}

void TextParser::parse_graph(Graph& graph) {
  Graph* outer_graph = std::exchange(graph_, &graph);
  std::vector<UserOrder> orders;
  std::vector<UserOrder>* outer_orders = std::exchange(orders_, &orders);
  auto outer_holders = storages_.enter();
  deeper();
  in_.expect('{', "to open the graph");
  parse_items(graph);
  in_.expect('}', "to close the graph");
  resolve_users(graph, orders);
  --depth_;
  storages_.leave(std::move(outer_holders));
  orders_ = outer_orders;
  graph_ = outer_graph;
}

void TextParser::parse_items(Graph& graph) {
  while (!in_.at('}')) {
    if (in_.peek().kind == TokenKind::kNode || in_.at_word("return") || in_.at_word("return_args")) {
      parse_node(graph);
    } else if (!parse_header(graph)) {
      const std::string word(in_.peek().text);
      const std::string hint = in_.peek().kind == TokenKind::kWord ? did_you_mean(word, kStatements) : "";
      if (!hint.empty()) in_.fail(in_.peek().begin, "unknown statement " + quoted_excerpt(word) + hint);
      in_.fail_expected("a node (%name : type = operator(...)), a declaration, return or \"}\"");
    }
  }
}

/// One line that isn't a node; false if the next token starts none.
bool TextParser::parse_header(Graph& graph) {
  if (in_.take_word("producer")) return parse_producer(graph), true;
  if (in_.take_word("symbol")) return parse_symbol(graph), true;
  if (in_.take_word("op")) return parse_op(graph), true;
  if (in_.take_word("attribute")) return parse_attribute(graph), true;
  if (in_.take_word("subgraph")) return parse_subgraph(graph), true;
  const auto count = [&] {
    const size_t begin = in_.peek().begin;
    const int64_t n = parse_int();
    if (n < 0) in_.fail(begin, "expected a number of at least 0");
    return n;
  };
  if (in_.take_word("num_forward_outputs")) {
    graph.num_forward_outputs = count();
    return true;
  }
  if (!in_.take_word("static_lifetime_inputs")) return false;
  in_.expect('[', "to open the indices");
  while (!in_.take(']')) {
    if (!graph.static_lifetime_inputs.empty()) in_.expect(',', "between indices");
    count_item(graph.static_lifetime_inputs.size());
    graph.static_lifetime_inputs.push_back(count());
  }
  return true;
}

void TextParser::parse_producer(Graph& graph) {
  while (in_.peek().kind == TokenKind::kWord || in_.peek().kind == TokenKind::kString) {
    if (in_.peek().kind == TokenKind::kWord && is_statement(in_.peek().text)) return;
    std::string key = parse_word_or_string("a key");
    in_.expect('=', "after the key");
    graph.producer.emplace_back(std::move(key), parse_text("the value in double quotes"));
  }
}

void TextParser::parse_symbol(Graph& graph) {
  const size_t begin = in_.peek().begin;
  const std::string name = parse_word_or_string("the name of the symbol");
  const auto [entry, fresh] = graph.symbols.try_emplace(name);
  if (!fresh) in_.fail(begin, "the symbol " + quoted_excerpt(name) + " is declared twice; remove one");
  if (in_.take('=')) entry->second.hint = parse_int();
  if (in_.take_word("in")) parse_bounds(entry->second);
  entry->second.unbacked = in_.take_word("unbacked");
}

void TextParser::parse_bounds(SymbolInfo& info) {
  in_.expect('[', "to open the bounds");
  const bool unbounded_below = in_.peek().kind == TokenKind::kNumber && in_.peek().text == "-inf";
  if (unbounded_below) {
    in_.skip();
  } else {
    info.lower = parse_int();
  }
  in_.expect(',', "between the bounds");
  if (!in_.take_word("inf")) info.upper = parse_int();
  in_.expect(']', "to close the bounds");
}

void TextParser::parse_op(Graph& graph) {
  const size_t begin = in_.peek().begin;
  const std::string name = parse_word_or_string("the name of the operator");
  const auto [entry, fresh] = graph.ops.try_emplace(name);
  if (!fresh) in_.fail(begin, "the operator " + quoted_excerpt(name) + " is declared twice; remove one");
  entry->second.schema = parse_text("the schema in double quotes");
  if (in_.at('[')) entry->second.tags = parse_words();
  entry->second.is_mutable = in_.take_word("mutable");
  entry->second.is_view = in_.take_word("view");
}

void TextParser::parse_attribute(Graph& graph) {
  const size_t begin = in_.peek().begin;
  const std::string name = parse_word_or_string("the name of the attribute");
  const auto [entry, fresh] = graph.attributes.try_emplace(name);
  if (!fresh) in_.fail(begin, "the attribute " + quoted_excerpt(name) + " is declared twice; remove one");
  in_.expect(':', "before the type");
  entry->second.tensor = parse_tensor();
  settle_tensor(nullptr, entry->second.tensor, false);
  open_.clear();
  settled_ = 0;
  if (!in_.take('=')) return;
  in_.expect('[', "to open the values");
  Graph* nodes = std::exchange(graph_, nullptr);  // constants can't name nodes
  entry->second.values = parse_items(']');
  graph_ = nodes;
}

void TextParser::parse_subgraph(Graph& graph) {
  const size_t begin = in_.peek().begin;
  const std::string name = parse_word_or_string("the name of the subgraph");
  const auto [entry, fresh] = graph.subgraphs.try_emplace(name);
  if (!fresh) in_.fail(begin, "the subgraph " + quoted_excerpt(name) + " occurs twice; remove one");
  entry->second = std::make_shared<Graph>();
  entry->second->name = in_.take_word("named") ? parse_word_or_string("the name of the graph") : name;
  parse_graph(*entry->second);
}

void TextParser::check_new_name(const Graph& graph, const Token& token) {
  const NodeId last = graph.last();
  if (last != kNoNode && graph[last].kind == NodeKind::kOutput)
    in_.fail(token.begin, "a node after the return; the return must be the last");
  if (graph.find(token.text) == kNoNode) return;
  in_.fail(token.begin,
           "the name %" + std::string(token.text) + " is taken by an earlier node; node names must be unique");
}

void TextParser::parse_node(Graph& graph) {
  Node node;
  open_.clear();
  settled_ = 0;
  has_tensor_meta_ = false;
  const bool named = in_.peek().kind == TokenKind::kNode;
  if (named) {
    node.name = in_.peek().text;
    check_new_name(graph, in_.peek());
    node_name_ = node.name;
    in_.skip();
    if (in_.take(':')) node.val = parse_value();
    in_.expect('=', "before the operator");
  } else {
    node.name = node_name_ = "output";
    Token token = in_.peek();
    token.text = node.name;
    check_new_name(graph, token);
  }
  parse_callee(node);
  if (node.val) settle(node, node.val.edit(), true);
  parse_meta(node);
  if (!has_tensor_meta_) node.meta.edit().tensor_meta = has_tensor(node.val);
  const NodeId id = graph.add(std::move(node));
  if (const TensorMeta* tensor = graph[id].tensor()) storages_.record(*tensor, id);
  if (!orders_->empty() && orders_->back().node == kNoNode) orders_->back().node = id;
}

void TextParser::parse_callee(Node& node) {
  const Token token = in_.peek();
  if (in_.take_word("placeholder")) return parse_leaf(node, NodeKind::kPlaceholder);
  if (in_.take_word("get_attr")) return parse_leaf(node, NodeKind::kGetAttr);
  if (in_.take_word("return")) return parse_return(node, false);
  if (in_.take_word("return_args")) return parse_return(node, true);
  if (token.kind != TokenKind::kWord && token.kind != TokenKind::kString)
    in_.fail_expected("an operator, placeholder, get_attr or return");
  node.kind = NodeKind::kCallFunction;
  node.target = token.text;
  in_.skip();
  parse_call_arguments(node);
}

void TextParser::parse_leaf(Node& node, NodeKind kind) {
  node.kind = kind;
  node.target = in_.take('@') ? parse_word_or_string("the target") : node.name;
  if (in_.at('(')) parse_call_arguments(node);
}

void TextParser::parse_return(Node& node, bool general) {
  node.kind = NodeKind::kOutput;
  node.target = in_.take('@') ? parse_word_or_string("the target") : "output";
  if (general) return parse_call_arguments(node);
  in_.expect('(', "to open the returned values");
  node.args.emplace_back(ListArg{parse_items(')')});
}

void TextParser::resolve_users(Graph& graph, std::span<const UserOrder> orders) {
  for (const UserOrder& order : orders) {
    std::vector<NodeId> users;
    for (const std::string& name : order.names) {
      users.push_back(graph.find(name));
      if (users.back() == kNoNode)
        in_.fail(order.begin, "unknown node %" + name + " among the users; list the nodes that read this one");
    }
    if (!same_elements(users, graph[order.node].users)) {
      in_.fail(order.begin, "expected exactly the nodes that read %" + graph[order.node].name +
                                ", each once; remove users=[...] for graph order");
    }
    graph.set_user_order(order.node, std::move(users));
  }
}

Graph parse_text(std::string_view text) { return TextParser(text).parse(); }

}  // namespace sapwood::graph
