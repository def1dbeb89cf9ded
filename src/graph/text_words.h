#pragma once

#include <string_view>

namespace sapwood::graph {

/// Whether the text form takes `c` as part of a bare word after its first character, dots aside.
constexpr bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A bare word of the text form: identifiers and numbers joined by dots, the first an identifier ("aten.mm.default",
/// "net.0").
constexpr bool is_word(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9') || text.back() == '.') return false;
  bool after_dot = true;
  for (const char c : text) {
    if (c == '.' ? after_dot : !is_word_char(c)) return false;
    after_dot = c == '.';
  }
  return true;
}

/// A bare node name after '%': word characters only, digits first allowed.
constexpr bool is_bare_name(std::string_view text) {
  for (const char c : text) {
    if (!is_word_char(c)) return false;
  }
  return !text.empty();
}

/// Words that begin a line of the text form which isn't a node.
constexpr bool is_statement(std::string_view text) {
  return text == "producer" || text == "num_forward_outputs" || text == "static_lifetime_inputs" || text == "symbol" ||
         text == "op" || text == "attribute" || text == "subgraph" || text == "return" || text == "return_args";
}

/// Words that begin something else than a call: an operator with such a name is written in quotes.
constexpr bool is_reserved_target(std::string_view text) {
  return text == "placeholder" || text == "get_attr" || text == "return" || text == "return_args";
}

}  // namespace sapwood::graph
