#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sapwood::graph {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,    ///< float32, aten.mm.default, return
  kNumber,  ///< 3, -2.5, 1e-05, -inf
  kString,  ///< "text"; `text` is decoded
  kNode,    ///< %mm, %"odd name"; `text` is the name
  kPunct,   ///< one of ( ) [ ] { } < > , : = # @
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< valid until the next string or node token is read
  size_t begin = 0;       ///< offset in the source
};

/// Splits the text form of a graph into tokens, one ahead. Blanks, line ends and `//` comments separate tokens and mean
/// nothing else.
///
/// Errors are user errors "line:column: message", followed by the source line with a mark under the column. Not
/// thread-safe; the text must outlive the lexer.
class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  /// The next token, without consuming it.
  const Token& peek() {
    if (!ahead_) read();
    return token_;
  }
  /// Consumes the token that `peek` shows.
  void skip() {
    peek();
    ahead_ = false;
  }
  bool at(char punct) { return peek().kind == TokenKind::kPunct && token_.text[0] == punct; }
  bool at_word(std::string_view word) { return peek().kind == TokenKind::kWord && token_.text == word; }
  /// Consumes the token if it is this one.
  bool take(char punct) {
    if (!at(punct)) return false;
    ahead_ = false;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!at_word(word)) return false;
    ahead_ = false;
    return true;
  }
  /// Errors: another token; `after` says where in the grammar ("after the shape").
  void expect(char punct, std::string_view after);

  /// Source text, blanks trimmed, up to a character of `ends` outside parentheses, which isn't consumed. For symbolic
  /// expressions and devices.
  std::string_view raw_until(std::string_view ends);

  std::string_view source() const { return text_; }
  /// 1-based line of an offset.
  size_t line_of(size_t offset) const;
  [[noreturn]] void fail(size_t offset, std::string_view message) const;
  /// At the next token: "expected <what>, got <token>".
  [[noreturn]] void fail_expected(std::string_view what);

 private:
  void read();
  void skip_blanks();
  void read_word(TokenKind kind);
  void read_number();
  void read_string(TokenKind kind);
  void read_escape(size_t begin);
  uint32_t read_hex4(size_t begin);

  std::string_view text_;
  size_t pos_ = 0;
  bool ahead_ = false;
  Token token_;
  std::string decoded_;
};

}  // namespace sapwood::graph
