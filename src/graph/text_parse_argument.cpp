#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/text_parser.h"
#include "graph/text_words.h"

namespace sapwood::graph {

namespace {

constexpr std::array<std::string_view, 7> kFunctions = {"slice",    "complex", "device", "sym",
                                                        "operator", "opaque",  "const"};

}  // namespace

std::string TextParser::parse_text(std::string_view what) {
  if (in_.peek().kind != TokenKind::kString) in_.fail_expected(what);
  std::string text(in_.peek().text);
  in_.skip();
  return text;
}

std::string TextParser::parse_word_or_string(std::string_view what) {
  const TokenKind kind = in_.peek().kind;
  if (kind != TokenKind::kString && kind != TokenKind::kWord) in_.fail_expected(what);
  std::string text(in_.peek().text);
  in_.skip();
  return text;
}

int64_t TextParser::parse_int() {
  const Token token = in_.peek();
  if (token.kind != TokenKind::kNumber) in_.fail_expected("an integer");
  int64_t value = 0;
  const char* last = token.text.data() + token.text.size();
  const auto [end, error] = std::from_chars(token.text.data(), last, value);
  if (error == std::errc::result_out_of_range)
    in_.fail(token.begin, "the integer " + quoted_excerpt(token.text, 30) + " doesn't fit 64 bits");
  if (error != std::errc() || end != last)
    in_.fail(token.begin, "expected an integer, got " + quoted_excerpt(token.text, 30));
  in_.skip();
  return value;
}

double TextParser::parse_real() {
  if (in_.take_word("inf")) return std::numeric_limits<double>::infinity();
  if (in_.take_word("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (in_.peek().kind != TokenKind::kNumber) in_.fail_expected("a number");
  const Argument number = parse_number();
  if (const auto* real = number.as<double>()) return *real;
  return static_cast<double>(*number.as<int64_t>());
}

/// An int, or a float if the text says so by a point or an exponent.
Argument TextParser::parse_number() {
  const Token token = in_.peek();
  if (token.text == "-inf") {
    in_.skip();
    return -std::numeric_limits<double>::infinity();
  }
  if (token.text.find_first_of(".eE") == std::string_view::npos) return parse_int();
  double value = 0;
  const char* last = token.text.data() + token.text.size();
  const auto [end, error] = std::from_chars(token.text.data(), last, value);
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(token.text).c_str(), nullptr);  // underflow rounds to zero; overflow is an error
    if (value - value != 0)
      in_.fail(token.begin, "the number " + quoted_excerpt(token.text, 30) + " is too large; write inf");
  } else if (error != std::errc() || end != last) {
    in_.fail(token.begin, "malformed number " + quoted_excerpt(token.text, 30));
  }
  in_.skip();
  return value;
}

/// Items up to `close`, which is consumed; a comma before it is allowed.
ArgumentList TextParser::parse_items(char close) {
  ArgumentList items;
  deeper();
  while (!in_.take(close)) {
    count_item(items.size());
    if (items.empty()) items.reserve(4);  // most lists are no longer: one allocation
    items.push_back(parse_argument());
    if (in_.take(close)) break;
    in_.expect(',', std::string("or \"") + close + "\" after an element");
  }
  --depth_;
  return items;
}

Argument TextParser::parse_tuple() {
  const size_t begin = in_.peek().begin;
  TupleArg tuple;
  deeper();
  bool comma = true;
  while (!in_.take(')')) {
    if (!comma) in_.expect(',', "or \")\" after an element");
    count_item(tuple.items.size());
    tuple.items.push_back(parse_argument());
    comma = in_.take(',');
  }
  --depth_;
  if (tuple.items.size() == 1 && !comma) in_.fail(begin, "a tuple of one element needs a comma: (x,)");
  return tuple;
}

std::vector<std::pair<std::string, Argument>> TextParser::parse_dict() {
  std::vector<std::pair<std::string, Argument>> entries;
  deeper();
  while (!in_.take('}')) {
    count_item(entries.size());
    std::string key = parse_text("a key in double quotes");
    in_.expect(':', "after the key");
    entries.emplace_back(std::move(key), parse_argument());
    if (in_.take('}')) break;
    in_.expect(',', "or \"}\" after an entry");
  }
  --depth_;
  return entries;
}

Argument TextParser::parse_argument() {
  const Token& token = in_.peek();
  switch (token.kind) {
    case TokenKind::kNode:
      return Argument::node(parse_node_reference());
    case TokenKind::kNumber:
      return parse_number();
    case TokenKind::kString:
      return parse_text("a string");
    case TokenKind::kWord: {
      const Token word = token;
      in_.skip();
      return parse_word_argument(word.text, word.begin);
    }
    default:
      break;
  }
  if (in_.take('[')) return ListArg{parse_items(']')};
  if (in_.take('(')) return parse_tuple();
  if (in_.take('{')) return DictArg{parse_dict()};
  in_.fail_expected("an argument");
}

/// `word` has just been consumed.
Argument TextParser::parse_word_argument(std::string_view word, size_t begin) {
  if (word == "None") return {};
  if (word == "True") return true;
  if (word == "False") return false;
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (!in_.take('(')) return parse_constant(word, begin);
  Argument arg = parse_function(word, begin);
  in_.expect(')', "to close " + std::string(word) + "(");
  return arg;
}

Argument TextParser::parse_function(std::string_view function, size_t begin) {
  if (function == "operator") return OperatorArg{parse_text("the operator in double quotes")};
  if (function == "opaque") return OpaqueArg{parse_text("text in double quotes")};
  if (function == "sym") {
    const std::string_view text = in_.raw_until(")");
    return expression(text, static_cast<size_t>(text.data() - in_.source().data()));
  }
  if (function == "device") {
    const std::string name = parse_text("a device in double quotes");
    if (auto device = Device::parse(name)) return *std::move(device);
    in_.fail(begin, "malformed device " + quoted_excerpt(name) +
                        "; write a type with an optional index, like \"cpu\" or \"cuda:0\"");
  }
  if (function == "complex") {
    const double real = parse_real();
    in_.expect(',', "between real and imaginary part");
    return std::complex<double>(real, parse_real());
  }
  if (function != "slice")
    in_.fail(begin, "unknown kind of argument " + quoted_excerpt(function) + did_you_mean(function, kFunctions));
  SliceArg slice;
  while (!in_.at(')')) {
    if (!slice.bounds.empty()) in_.expect(',', "between the bounds");
    count_item(slice.bounds.size());
    slice.bounds.push_back(parse_argument());
  }
  if (slice.bounds.size() != 3)
    in_.fail(begin, "expected slice(start, stop, step), got " + std::to_string(slice.bounds.size()) + " bounds");
  return slice;
}

Argument TextParser::parse_constant(std::string_view word, size_t begin) {
  if (const auto dtype = dtype_from_name(word)) return *dtype;
  if (const auto layout = layout_from_name(word)) return *layout;
  if (const auto format = memory_format_from_name(word)) return *format;
  if (graph_ != nullptr && graph_->find(word) != kNoNode) {
    in_.fail(begin, "unknown constant " + quoted_excerpt(word) + "; a node is written %" + std::string(word));
  }
  if (word == "true" || word == "false")
    in_.fail(begin, "unknown constant " + quoted_excerpt(word) + "; write True or False");
  in_.fail(begin, unknown_dtype(word) + " (a string is written in double quotes)");
}

void TextParser::parse_call_arguments(Node& node) {
  in_.expect('(', "to open the arguments");
  deeper();
  while (!in_.take(')')) {
    count_item(node.args.size() + node.kwargs.size());
    const Token token = in_.peek();
    const bool named = token.kind == TokenKind::kWord || token.kind == TokenKind::kString;
    const std::string text(named ? token.text : std::string_view{});
    if (named) in_.skip();
    if (named && in_.take('=')) {
      for (const auto& [key, value] : node.kwargs) {
        if (key == text) in_.fail(token.begin, "the argument " + quoted_excerpt(text) + " is given twice; remove one");
      }
      node.kwargs.emplace_back(text, parse_argument());
    } else {
      if (!node.kwargs.empty())
        in_.fail(token.begin, "a positional argument after a named one; write it before, or name it");
      if (token.kind == TokenKind::kString) {
        node.args.emplace_back(text);
      } else {
        node.args.push_back(named ? parse_word_argument(token.text, token.begin) : parse_argument());
      }
    }
    if (in_.take(')')) break;
    in_.expect(',', "or \")\" after an argument");
  }
  --depth_;
}

NodeId TextParser::parse_node_reference() {
  const Token token = in_.peek();
  const std::string name(token.text);
  const NodeId id = graph_ != nullptr ? graph_->find(name) : kNoNode;
  if (id == kNoNode) fail_unknown_node(name, token.begin);
  in_.skip();
  return id;
}

void TextParser::fail_unknown_node(const std::string& name, size_t begin) {
  if (graph_ == nullptr) in_.fail(begin, "a node can't be named here");
  if (name == node_name_) in_.fail(begin, "%" + name + " reads itself; a node reads only earlier nodes");
  const std::string_view source = in_.source();
  for (size_t at = source.find("%" + name, begin + 1); at != std::string_view::npos;
       at = source.find("%" + name, at + 1)) {
    const size_t line = source.rfind('\n', at);
    const bool starts_line = line == std::string_view::npos ||
                             source.substr(line + 1, at - line - 1).find_first_not_of(" \t") == std::string_view::npos;
    const size_t end = at + 1 + name.size();
    const size_t next = source.find_first_not_of(" \t", end);
    const bool whole = end >= source.size() || !is_word_char(source[end]);
    if (!starts_line || !whole || next == std::string_view::npos || (source[next] != ':' && source[next] != '='))
      continue;
    in_.fail(begin, "%" + name + " is used before it is defined at line " + std::to_string(in_.line_of(at)) +
                        "; move that line up");
  }
  std::vector<std::string_view> names;
  for (NodeId n = graph_->first(); n != kNoNode; n = (*graph_)[n].next) names.push_back((*graph_)[n].name);
  const std::string_view nearest = nearest_name(name, names);
  in_.fail(begin, "%" + name + " is not defined" +
                      (nearest.empty() ? "; a node reads only earlier nodes of its own graph"
                                       : "; did you mean %" + std::string(nearest) + "?"));
}

}  // namespace sapwood::graph
