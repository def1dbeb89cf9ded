#include "graph/text_lexer.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "graph/text_words.h"

namespace sapwood::graph {

namespace {

constexpr size_t kShownLine = 110;  // of a long line, this much around the place is shown
constexpr size_t kShownBefore = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

size_t code_points(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

}  // namespace

size_t TextLexer::line_of(size_t offset) const {
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text_.size()));
  return 1 + static_cast<size_t>(std::count(text_.begin(), end, '\n'));
}

void TextLexer::fail(size_t offset, std::string_view message) const {
  offset = std::min(offset, text_.size());
  const size_t before = offset == 0 ? std::string_view::npos : text_.rfind('\n', offset - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(text_.find('\n', offset), text_.size());
  size_t from = offset - begin > kShownBefore ? offset - kShownBefore : begin;
  while (from < offset && is_continuation(text_[from])) ++from;
  size_t to = std::min(end, from + kShownLine);
  while (to < end && is_continuation(text_[to])) ++to;
  std::string shown(text_.substr(from, to - from));
  for (char& c : shown) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (!is_utf8(shown)) shown = "(bytes that are not UTF-8)";
  const std::string lead = from > begin ? "  ..." : "  ";
  const size_t column = 1 + code_points(text_.substr(begin, offset - begin));
  const size_t mark = lead.size() + code_points(text_.substr(from, offset - from));
  throw_user("parse", std::to_string(line_of(offset)) + ":" + std::to_string(column) + ": " + std::string(message) +
                          "\n" + lead + shown + (to < end ? "..." : "") + "\n" + std::string(mark, ' ') + "^");
}

void TextLexer::fail_expected(std::string_view what) {
  const Token& token = peek();
  const std::string got = token.kind == TokenKind::kEnd ? "the end of the text" : quoted_excerpt(token.text, 40);
  fail(token.begin, "expected " + std::string(what) + ", got " + got);
}

void TextLexer::expect(char punct, std::string_view after) {
  if (!take(punct)) fail_expected("\"" + std::string(1, punct) + "\" " + std::string(after));
}

void TextLexer::skip_blanks() {
  while (pos_ < text_.size()) {
    if (is_blank(text_[pos_])) {
      ++pos_;
    } else if (text_[pos_] == '/' && text_.substr(pos_).starts_with("//")) {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      return;
    }
  }
}

void TextLexer::read() {
  skip_blanks();
  ahead_ = true;
  token_ = {TokenKind::kEnd, {}, pos_};
  if (pos_ >= text_.size()) return;
  const char c = text_[pos_];
  if (is_digit(c) || c == '-') return read_number();
  if (is_word_char(c)) return read_word(TokenKind::kWord);
  if (c == '"') return read_string(TokenKind::kString);
  if (c == '%') {
    ++pos_;
    if (pos_ < text_.size() && text_[pos_] == '"') return read_string(TokenKind::kNode);
    return read_word(TokenKind::kNode);
  }
  if (std::string_view("()[]{}<>,:=#@").find(c) == std::string_view::npos) {
    size_t end = pos_ + 1;
    while (end < text_.size() && is_continuation(text_[end])) ++end;
    fail(pos_, "unexpected character " + quoted_excerpt(text_.substr(pos_, end - pos_)) +
                   "; text that isn't a name belongs in double quotes");
  }
  token_.kind = TokenKind::kPunct;
  token_.text = text_.substr(pos_++, 1);
}

void TextLexer::read_word(TokenKind kind) {
  const size_t begin = pos_;
  while (pos_ < text_.size()) {
    const bool dot =
        kind == TokenKind::kWord && text_[pos_] == '.' && pos_ + 1 < text_.size() && is_word_char(text_[pos_ + 1]);
    if (!dot && !is_word_char(text_[pos_])) break;
    ++pos_;
  }
  if (pos_ == begin)
    fail(token_.begin, "expected a node name after \"%\"; a name with other characters is written %\"...\"");
  token_.kind = kind;
  token_.text = text_.substr(begin, pos_ - begin);
}

void TextLexer::read_number() {
  const size_t begin = pos_;
  if (text_[pos_] == '-') ++pos_;
  if (text_.substr(pos_).starts_with("inf")) {
    pos_ += 3;
  } else {
    while (pos_ < text_.size() && (is_digit(text_[pos_]) || text_[pos_] == '.')) ++pos_;
    if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
      ++pos_;
      if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
      while (pos_ < text_.size() && is_digit(text_[pos_])) ++pos_;
    }
  }
  token_.kind = TokenKind::kNumber;
  token_.text = text_.substr(begin, pos_ - begin);
  const bool glued = pos_ < text_.size() && is_word_char(text_[pos_]);
  if (glued || !is_word_char(token_.text.back())) {
    if (token_.text.back() == '.' && !glued && token_.text.size() > 1) return;  // "3." is a float
    fail(begin, "malformed number " + quoted_excerpt(text_.substr(begin, pos_ - begin + (glued ? 1 : 0))));
  }
}

void TextLexer::read_string(TokenKind kind) {
  const size_t begin = ++pos_;
  token_.kind = kind;
  const size_t stop = text_.find_first_of("\"\\\n", pos_);
  if (stop != std::string_view::npos && text_[stop] == '"') {
    token_.text = text_.substr(begin, stop - begin);
    pos_ = stop + 1;
  } else {
    decoded_.clear();
    while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n') {
      if (text_[pos_] == '\\') {
        read_escape(pos_);
      } else {
        decoded_ += text_[pos_++];
      }
    }
    if (pos_ >= text_.size() || text_[pos_] == '\n')
      fail(begin - 1, "the string isn't closed on its line; end it with \" (a line end inside is \\n)");
    ++pos_;
    token_.text = decoded_;
  }
  if (!is_utf8(token_.text)) fail(begin - 1, "the string is not valid UTF-8");
}

void TextLexer::read_escape(size_t begin) {
  ++pos_;
  const char c = pos_ < text_.size() ? text_[pos_++] : '\n';
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (const size_t i = kFrom.find(c); i != std::string_view::npos) {
    decoded_ += kTo[i];
    return;
  }
  if (c != 'u')
    fail(begin,
         "unknown escape; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hexadecimal digits");
  uint32_t code = read_hex4(begin);
  if (code >= 0xD800 && code <= 0xDFFF) {
    const bool paired = code < 0xDC00 && text_.substr(pos_).starts_with("\\u");
    if (paired) pos_ += 2;
    const uint32_t low = paired ? read_hex4(begin) : 0;
    if (low < 0xDC00 || low > 0xDFFF) fail(begin, "an unpaired surrogate; write the character itself");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  append_utf8(code, decoded_);
}

uint32_t TextLexer::read_hex4(size_t begin) {
  uint32_t code = 0;
  const char* first = text_.data() + pos_;
  if (pos_ + 4 > text_.size() || std::from_chars(first, first + 4, code, 16).ptr != first + 4) {
    fail(begin, "\\u needs four hexadecimal digits");
  }
  pos_ += 4;
  return code;
}

std::string_view TextLexer::raw_until(std::string_view ends) {
  if (ahead_) pos_ = token_.begin;
  ahead_ = false;
  skip_blanks();
  const size_t begin = pos_;
  size_t depth = 0;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (depth == 0 && ends.find(c) != std::string_view::npos) break;
    if (c == '"' || c == '\n' || c == '%' || c == '#') break;  // no expression has these: the end is missing
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    ++pos_;
  }
  size_t end = pos_;
  while (end > begin && is_blank(text_[end - 1])) --end;
  return text_.substr(begin, end - begin);
}

}  // namespace sapwood::graph
