#include "graph/json_cursor.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace sapwood::graph {

namespace {

constexpr std::string_view kStage = "parse";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view kind_name(JsonCursor::Kind kind) {
  switch (kind) {
    case JsonCursor::Kind::kNull:
      return "null";
    case JsonCursor::Kind::kBool:
      return "a bool";
    case JsonCursor::Kind::kNumber:
      return "a number";
    case JsonCursor::Kind::kString:
      return "a string";
    case JsonCursor::Kind::kArray:
      return "a list";
    case JsonCursor::Kind::kObject:
      return "an object";
  }
  return "a value";
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text) : text_(text) {
  if (text.size() > kMaxBytes) {
    throw_user(kStage, "the JSON text has " + std::to_string(text.size()) +
                           " bytes, more than the 1 GiB that is accepted; split the graph");
  }
  path_.reserve(kMaxDepth);  // never moves: keys point into it
}

std::string JsonCursor::path() const {
  std::string out;
  for (size_t i = 0; i < depth_; ++i) {
    const Step& step = path_[i];
    if (step.is_index) {
      out += "[" + std::to_string(step.index) + "]";
    } else if (!step.key.empty()) {
      if (!out.empty()) out += '.';
      const std::string shown = quoted_excerpt(step.key);
      out.append(shown, 1, shown.size() - 2);
    }
  }
  return out;
}

void JsonCursor::fail(std::string_view message) const {
  std::string where = path();
  if (where.empty()) where = "top level";
  if (!node_.empty()) where += " (node " + quoted_excerpt(node_) + ")";
  throw_user(kStage, where + ": " + std::string(message));
}

void JsonCursor::fail_truncated() const {
  fail("the JSON text ends early, at byte " + std::to_string(text_.size()) + "; the file is truncated, write it again");
}

void JsonCursor::fail_expected(std::string_view expected) {
  const Kind kind = peek();
  fail("expected " + std::string(expected) + ", got " + std::string(kind_name(kind)));
}

void JsonCursor::skip_blanks() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++pos_;
  }
}

JsonCursor::Kind JsonCursor::peek() {
  skip_blanks();
  if (pos_ >= text_.size()) fail_truncated();
  const char c = text_[pos_];
  switch (c) {
    case 'n':
      return Kind::kNull;
    case 't':
    case 'f':
      return Kind::kBool;
    case '"':
      return Kind::kString;
    case '[':
      return Kind::kArray;
    case '{':
      return Kind::kObject;
    default:
      break;
  }
  const std::string_view rest = text_.substr(pos_);
  if (rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-Infinity")) {
    fail("NaN and Infinity are not JSON; write {\"float\": \"nan\"}, {\"float\": \"inf\"} or {\"float\": \"-inf\"}");
  }
  if (c == '-' || is_digit(c)) return Kind::kNumber;
  fail("expected a JSON value, got " + quoted_excerpt(rest, 20) + " at byte " + std::to_string(pos_));
}

void JsonCursor::literal(std::string_view word) {
  const std::string_view rest = text_.substr(pos_);
  if (rest.starts_with(word)) {
    pos_ += word.size();
    return;
  }
  if (word.starts_with(rest)) fail_truncated();
  fail("expected " + std::string(word) + ", got " + quoted_excerpt(rest, 20) + " at byte " + std::to_string(pos_));
}

bool JsonCursor::take_null() {
  if (peek() != Kind::kNull) return false;
  literal("null");
  return true;
}

bool JsonCursor::boolean() {
  if (peek() != Kind::kBool) fail_expected("true or false");
  const bool value = text_[pos_] == 't';
  literal(value ? "true" : "false");
  return value;
}

JsonCursor::Number JsonCursor::number() {
  if (peek() != Kind::kNumber) fail_expected("a number");
  const size_t begin = pos_;
  const auto digits = [&] {
    const size_t from = pos_;
    while (pos_ < text_.size() && is_digit(text_[pos_])) ++pos_;
    if (pos_ > from) return pos_ - from;
    if (pos_ >= text_.size()) fail_truncated();
    fail("malformed number " + quoted_excerpt(text_.substr(begin), 20));
  };
  if (text_[pos_] == '-') ++pos_;
  const bool leading_zero = pos_ < text_.size() && text_[pos_] == '0';
  if (digits() > 1 && leading_zero)
    fail("malformed number " + quoted_excerpt(text_.substr(begin), 20) + ": a leading zero");
  Number result;
  if (pos_ < text_.size() && text_[pos_] == '.') {
    result.is_int = false;
    ++pos_;
    digits();
  }
  if (pos_ < text_.size() && (text_[pos_] == 'e' || text_[pos_] == 'E')) {
    result.is_int = false;
    ++pos_;
    if (pos_ < text_.size() && (text_[pos_] == '+' || text_[pos_] == '-')) ++pos_;
    digits();
  }
  const char* first = text_.data() + begin;
  const char* last = text_.data() + pos_;
  if (result.is_int) {
    if (std::from_chars(first, last, result.integer).ec != std::errc()) {
      fail("integer " + quoted_excerpt(text_.substr(begin, pos_ - begin), 30) +
           " doesn't fit 64 bits; write it as a float (with .0) if it is one");
    }
    result.real = static_cast<double>(result.integer);
  } else if (std::from_chars(first, last, result.real).ec != std::errc()) {
    result.real =
        std::strtod(std::string(first, last).c_str(), nullptr);  // underflow rounds to zero; overflow is an error
    if (std::isinf(result.real))
      fail("number " + quoted_excerpt(text_.substr(begin, pos_ - begin), 30) +
           " is too large; write {\"float\": \"inf\"}");
  }
  return result;
}

int64_t JsonCursor::integer() {
  if (peek() != Kind::kNumber) fail_expected("an integer");
  const Number n = number();
  if (!n.is_int) fail("expected an integer, got a float");
  return n.integer;
}

double JsonCursor::real() {
  if (peek() != Kind::kNumber) fail_expected("a number");
  return number().real;
}

std::string JsonCursor::string() { return std::string(string_view()); }

std::string_view JsonCursor::string_view() {
  if (peek() != Kind::kString) fail_expected("a string");
  return scan_string(scratch_);
}

std::string_view JsonCursor::scan_string(std::string& scratch) {
  const size_t begin = ++pos_;
  unsigned char high = 0;
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\\') {
    const auto c = static_cast<unsigned char>(text_[pos_]);
    if (c < 0x20) fail("a control character (byte " + std::to_string(pos_) + ") inside a string; escape it as \\u00XX");
    high |= c;
    ++pos_;
  }
  if (pos_ >= text_.size()) fail_truncated();
  std::string_view result = text_.substr(begin, pos_ - begin);
  if (text_[pos_] == '"') {
    ++pos_;
  } else {
    scratch.assign(result);
    unescape(begin, scratch);
    result = scratch;
    high = 0x80;
  }
  if ((high & 0x80U) != 0 && !is_utf8(result))
    fail("a string that is not valid UTF-8, at byte " + std::to_string(begin));
  return result;
}

void JsonCursor::unescape(size_t begin, std::string& out) {
  while (pos_ < text_.size()) {
    const char c = text_[pos_++];
    if (c == '"') return;
    if (static_cast<unsigned char>(c) < 0x20)
      fail("a control character inside the string at byte " + std::to_string(begin) + "; escape it as \\u00XX");
    if (c == '\\') {
      append_escape(out);
    } else {
      out += c;
    }
  }
  fail_truncated();
}

uint32_t JsonCursor::hex4() {
  if (pos_ + 4 > text_.size()) fail_truncated();
  uint32_t code = 0;
  const char* first = text_.data() + pos_;
  if (std::from_chars(first, first + 4, code, 16).ptr != first + 4)
    fail("malformed \\u escape at byte " + std::to_string(pos_));
  pos_ += 4;
  return code;
}

void JsonCursor::append_escape(std::string& out) {
  if (pos_ >= text_.size()) fail_truncated();
  const char c = text_[pos_++];
  constexpr std::string_view kFrom = "\"\\/bfnrt";
  constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  if (const size_t i = kFrom.find(c); i != std::string_view::npos) {
    out += kTo[i];
    return;
  }
  if (c != 'u') fail("unknown escape \\" + std::string(1, c) + " at byte " + std::to_string(pos_ - 1));
  uint32_t code = hex4();
  if (code >= 0xD800 && code <= 0xDFFF) {
    const bool paired = code < 0xDC00 && text_.substr(pos_).starts_with("\\u");
    if (paired) pos_ += 2;
    const uint32_t low = paired ? hex4() : 0;
    if (low < 0xDC00 || low > 0xDFFF) fail("an unpaired surrogate escape at byte " + std::to_string(pos_));
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  append_utf8(code, out);
}

void JsonCursor::open(char bracket, std::string_view expected) {
  const Kind wanted = bracket == '{' ? Kind::kObject : Kind::kArray;
  if (peek() != wanted) fail_expected(expected);
  if (depth_ >= kMaxDepth) fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
  ++pos_;
  if (path_.size() == depth_) path_.emplace_back();
  Step& step = path_[depth_++];
  step.is_index = bracket == '[';
  step.index = static_cast<size_t>(-1);
  step.key = {};
}

/// Whether another item follows in the innermost bracket; consumes the comma or the closing bracket.
bool JsonCursor::separator(char close) {
  Step& step = path_[depth_ - 1];
  skip_blanks();
  if (pos_ >= text_.size()) fail_truncated();
  const bool first = step.index == static_cast<size_t>(-1);
  if (text_[pos_] == close) {
    ++pos_;
    --depth_;
    return false;
  }
  if (!first) {
    if (text_[pos_] != ',') {
      fail(std::string("expected , or ") + close + ", got " + quoted_excerpt(text_.substr(pos_), 20) + " at byte " +
           std::to_string(pos_));
    }
    ++pos_;
  }
  ++step.index;
  return true;
}

bool JsonCursor::next_element(size_t max_items) {
  if (!separator(']')) return false;
  if (path_[depth_ - 1].index >= max_items) fail("a list of more than " + std::to_string(max_items) + " elements");
  return true;
}

bool JsonCursor::next_member() {
  if (!separator('}')) return false;
  Step& step = path_[depth_ - 1];
  if (step.index >= kMaxItems) fail("an object of more than " + std::to_string(kMaxItems) + " members");
  step.key = {};
  if (peek() != Kind::kString) fail_expected("a key");
  step.key = scan_string(step.decoded);
  skip_blanks();
  if (pos_ >= text_.size()) fail_truncated();
  if (text_[pos_] != ':')
    fail("expected : after the key, got " + quoted_excerpt(text_.substr(pos_), 20) + " at byte " +
         std::to_string(pos_));
  ++pos_;
  return true;
}

size_t JsonCursor::known_key(std::string_view key, std::span<const std::string_view> keys, uint64_t seen) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != key) continue;
    if ((seen >> i & 1U) != 0) fail("the key occurs twice; keep one");
    return i;
  }
  std::string known;
  for (const std::string_view k : keys) known += (known.empty() ? "" : ", ") + std::string(k);
  const std::string hint = did_you_mean(key, keys);
  fail("unknown key " + quoted_excerpt(key) + (hint.empty() ? "; expected one of " + known : hint));
}

void JsonCursor::require(std::span<const std::string_view> keys, size_t required, uint64_t seen) const {
  for (size_t i = 0; i < required; ++i) {
    if ((seen >> i & 1U) == 0) fail("the key " + quoted_excerpt(keys[i]) + " is missing");
  }
}

void JsonCursor::finish() {
  skip_blanks();
  if (pos_ < text_.size())
    fail("expected the end of the text, got " + quoted_excerpt(text_.substr(pos_), 20) + " at byte " +
         std::to_string(pos_));
}

}  // namespace sapwood::graph
