#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sapwood::graph {

/// A forward-only reader of one JSON text that never builds a tree: the caller asks for what it expects, in order, and
/// gets it or a user error with the JSON path. Made for large and hostile input: no work before the first wrong byte is
/// wasted, depth and list lengths are bounded.
///
/// Strings must be UTF-8. Integers must fit 64 bits. Not thread-safe. The text must outlive the cursor.
class JsonCursor {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  struct Number {
    bool is_int = true;
    int64_t integer = 0;
    double real = 0;
  };

  static constexpr size_t kMaxBytes = size_t{1} << 30;
  static constexpr size_t kMaxDepth = 512;
  static constexpr size_t kMaxItems = size_t{1} << 20;  ///< of one list that isn't the node list

  explicit JsonCursor(std::string_view text);

  /// Kind of the next value, without consuming it. Errors: the end of the text, or a byte that starts no value.
  Kind peek();
  /// Consumes null if it is next.
  bool take_null();
  bool boolean();
  Number number();
  int64_t integer();
  double real();  ///< an int is accepted
  std::string string();
  /// As `string`, valid until the next call that reads a string.
  std::string_view string_view();

  /// Calls `each(key)` for every member; it must consume the value. The key is valid until it returns.
  template <typename Each>
  void object(Each&& each) {
    open('{', "an object");
    while (next_member()) {
      each(path_[depth_ - 1].key);
    }
  }
  /// Calls `each(index)` for every element; it must consume the element.
  template <typename Each>
  void array(Each&& each, size_t max_items = kMaxItems) {
    open('[', "a list");
    while (next_element(max_items)) each(path_[depth_ - 1].index);
  }
  /// An object with known keys: calls `read(i)` for `keys[i]`. Unknown, repeated and missing keys (the first `required`
  /// must be present) are errors.
  template <typename Read>
  void fields(std::span<const std::string_view> keys, size_t required, Read&& read) {
    uint64_t seen = 0;
    object([&](std::string_view key) {
      const size_t i = known_key(key, keys, seen);
      seen |= uint64_t{1} << i;
      read(i);
    });
    require(keys, required, seen);
  }

  /// Errors if anything but blanks follows.
  void finish();

  /// Shown with every later error: the node that is being read. Empty: none.
  void set_node(std::string_view name) { node_ = name; }
  /// "nodes[3].args[0]".
  std::string path() const;
  size_t offset() const { return pos_; }
  std::string_view text() const { return text_; }
  /// User error "<path> (node "mm"): <message>".
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_expected(std::string_view expected);

 private:
  struct Step {
    bool is_index = false;
    size_t index = 0;
    std::string_view key;
    std::string decoded;  // owns `key` when the text has escapes in it
  };

  void skip_blanks();
  void open(char bracket, std::string_view expected);
  bool next_member();
  bool next_element(size_t max_items);
  bool separator(char close);
  void literal(std::string_view word);
  std::string_view scan_string(std::string& scratch);
  void unescape(size_t end_hint, std::string& out);
  uint32_t hex4();
  void append_escape(std::string& out);
  [[noreturn]] void fail_truncated() const;
  size_t known_key(std::string_view key, std::span<const std::string_view> keys, uint64_t seen) const;
  void require(std::span<const std::string_view> keys, size_t required, uint64_t seen) const;

  std::string_view text_;
  size_t pos_ = 0;
  size_t depth_ = 0;
  std::vector<Step> path_;
  std::string scratch_;
  std::string node_;
};

}  // namespace sapwood::graph
