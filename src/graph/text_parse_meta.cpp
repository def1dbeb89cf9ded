#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/text_parser.h"
#include "graph/text_words.h"

namespace sapwood::graph {

namespace {

struct Flag {
  std::string_view name;
  bool NodeMeta::* field;
};
constexpr std::array<Flag, 8> kFlags = {{{"has_backward_hook", &NodeMeta::has_backward_hook},
                                         {"autograd_backward", &NodeMeta::autograd_backward},
                                         {"saved_tensor_with_no_vc_check", &NodeMeta::saved_tensor_with_no_vc_check},
                                         {"saved_for_quantization", &NodeMeta::saved_for_quantization},
                                         {"is_gradient_acc", &NodeMeta::is_gradient_acc},
                                         {"is_functional_regenerated", &NodeMeta::is_functional_regenerated},
                                         {"impure", &NodeMeta::impure},
                                         {"tensor_meta", &NodeMeta::tensor_meta}}};

constexpr std::array<std::string_view, 25> kFacts = {"has_backward_hook",
                                                     "autograd_backward",
                                                     "saved_tensor_with_no_vc_check",
                                                     "saved_for_quantization",
                                                     "is_gradient_acc",
                                                     "is_functional_regenerated",
                                                     "impure",
                                                     "tensor_meta",
                                                     "partitioner_tag",
                                                     "recompute",
                                                     "ac_graph_id",
                                                     "memory_budget",
                                                     "region_memory_budget",
                                                     "quantization_tag",
                                                     "mutation_region_id",
                                                     "flops",
                                                     "seq_nr",
                                                     "users",
                                                     "custom",
                                                     "unbacked_bindings",
                                                     "hop",
                                                     "desc",
                                                     "original_aten",
                                                     "nn_module",
                                                     "stack_trace"};

}  // namespace

void TextParser::parse_meta(Node& node) {
  if (!in_.take('#')) return;
  uint64_t seen = 0;
  while (in_.peek().kind == TokenKind::kWord && !is_statement(in_.peek().text)) {
    const size_t begin = in_.peek().begin;
    const std::string key(in_.peek().text);
    const auto fact = static_cast<size_t>(std::find(kFacts.begin(), kFacts.end(), key) - kFacts.begin());
    if (fact == kFacts.size()) {
      const std::string hint = did_you_mean(key, kFacts);
      in_.fail(begin, "unknown fact " + quoted_excerpt(key) + (hint.empty() ? "; a comment starts with //" : hint));
    }
    if ((seen >> fact & 1U) != 0) in_.fail(begin, key + " is given twice; remove one");
    seen |= uint64_t{1} << fact;
    in_.skip();
    if (parse_flag(node.meta.edit(), key)) {
      has_tensor_meta_ = has_tensor_meta_ || key == "tensor_meta";
      continue;
    }
    in_.expect('=', "after " + key);
    parse_fact(node, key, begin);
  }
}

/// A flag may stand alone or have a value: "impure", "tensor_meta=false".
bool TextParser::parse_flag(NodeMeta& meta, std::string_view key) {
  for (const Flag& flag : kFlags) {
    if (flag.name != key) continue;
    meta.*flag.field = true;
    if (!in_.take('=')) return true;
    if (in_.take_word("true")) return true;
    if (!in_.take_word("false")) in_.fail_expected("true or false");
    meta.*flag.field = false;
    return true;
  }
  return false;
}

void TextParser::parse_fact(Node& node, std::string_view key, size_t begin) {
  NodeMeta& meta = node.meta.edit();
  if (parse_number_fact(meta, key) || parse_text_fact(meta, key)) return;
  if (key == "partitioner_tag" || key == "recompute") return parse_policy(meta, key == "partitioner_tag");
  if (key == "unbacked_bindings") return parse_bindings(meta);
  if (key == "hop") {
    meta.hop = parse_words();
  } else if (key == "desc") {
    meta.desc = in_.at('[') ? parse_words() : std::vector<std::string>{parse_word_or_string("a description")};
  } else if (key == "custom") {
    Graph* graph = std::exchange(graph_, nullptr);  // an annotation isn't an argument: it can't read a node
    in_.expect('{', "to open the annotations");
    meta.custom = parse_dict();
    graph_ = graph;
  } else {
    UserOrder order{kNoNode, {}, begin};
    in_.expect('[', "to open the users");
    while (!in_.take(']')) {
      if (!order.names.empty()) in_.expect(',', "between users");
      count_item(order.names.size());
      if (in_.peek().kind != TokenKind::kNode) in_.fail_expected("a node");
      order.names.emplace_back(in_.peek().text);
      in_.skip();
    }
    orders_->push_back(std::move(order));
  }
}

bool TextParser::parse_number_fact(NodeMeta& meta, std::string_view key) {
  if (key == "memory_budget") {
    const bool is_integer = in_.peek().text.find_first_not_of("-0123456789") == std::string_view::npos;
    meta.memory_budget = NumberMark{parse_real(), is_integer};
    return true;
  }
  if (key == "region_memory_budget") {
    meta.region_memory_budget = parse_real();
    return true;
  }
  std::optional<int64_t>* field = nullptr;
  if (key == "ac_graph_id") field = &meta.ac_graph_id;
  if (key == "mutation_region_id") field = &meta.mutation_region_id;
  if (key == "flops") field = &meta.flops;
  if (key == "seq_nr") field = &meta.seq_nr;
  if (field == nullptr) return false;
  *field = parse_int();
  return true;
}

bool TextParser::parse_text_fact(NodeMeta& meta, std::string_view key) {
  std::string* field = nullptr;
  if (key == "quantization_tag") field = &meta.quantization_tag;
  if (key == "original_aten") field = &meta.original_aten;
  if (key == "nn_module") field = &meta.nn_module;
  if (key == "stack_trace") field = &meta.stack_trace;
  if (field == nullptr) return false;
  *field = parse_word_or_string("a word or text in double quotes");
  return true;
}

void TextParser::parse_policy(NodeMeta& meta, bool tag) {
  const size_t begin = in_.peek().begin;
  const std::string name = parse_word_or_string("a name");
  if (tag ? partitioner_tag_from_name(name, meta.partitioner_tag) : checkpoint_policy_from_name(name, meta.recompute))
    return;
  in_.fail(begin, (tag ? "unknown tag " : "unknown checkpoint policy ") + quoted_excerpt(name) + "; expected one of " +
                      (tag ? partitioner_tag_names() : checkpoint_policy_names()));
}

void TextParser::parse_bindings(NodeMeta& meta) {
  in_.expect('{', "to open the bindings");
  while (!in_.take('}')) {
    if (!meta.unbacked_bindings.empty()) in_.expect(',', "between bindings");
    count_item(meta.unbacked_bindings.size());
    std::string symbol = parse_word_or_string("a symbol");
    in_.expect(':', "after the symbol");
    meta.unbacked_bindings.emplace_back(std::move(symbol), parse_text("the path in double quotes"));
  }
}

std::vector<std::string> TextParser::parse_words() {
  std::vector<std::string> words;
  in_.expect('[', "to open the list");
  while (!in_.take(']')) {
    if (!words.empty()) in_.expect(',', "between elements");
    count_item(words.size());
    words.push_back(parse_word_or_string("a word or text in double quotes"));
  }
  return words;
}

}  // namespace sapwood::graph
