#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sapwood::graph {

/// A `T` that copies share until one of them changes it, or none. One pointer; copying costs no allocation.
///
/// Reading none yields a default `T`. Copies may be read, changed and destroyed on different threads; one object may
/// not.
template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(std::nullopt_t) {}                                 // NOLINT(google-explicit-constructor): as std::optional
  Shared(T value) : block_(new Block{std::move(value)}) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
    requires(!std::is_same_v<std::remove_cvref_t<U>, Shared>) &&
            (!std::is_same_v<std::remove_cvref_t<U>, std::optional<T>>) &&
            (!std::is_same_v<std::remove_cvref_t<U>, std::nullopt_t>) && std::is_constructible_v<T, U>
  Shared(U&& value) : Shared(T(std::forward<U>(value))) {}  // NOLINT(google-explicit-constructor)
  Shared(std::optional<T> value) {                          // NOLINT(google-explicit-constructor)
    if (value) block_ = new Block{*std::move(value)};
  }
  Shared(const Shared& other) : block_(other.block_) {
    if (block_) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() { reset(); }

  explicit operator bool() const { return block_; }
  bool has_value() const { return block_; }
  const T& operator*() const { return block_ ? block_->value : none(); }
  const T* operator->() const { return &**this; }
  /// This object's own, which nobody else sees; a default `T` if there was none.
  T& edit() {
    if (!block_) {
      block_ = new Block{};
    } else if (block_->owners.load(std::memory_order_acquire) != 1) {
      *this = Shared(T(block_->value));
    }
    return block_->value;
  }
  void reset() {
    if (block_ && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block_;
    block_ = nullptr;
  }
  std::optional<T> copy() const { return block_ ? std::optional<T>(block_->value) : std::nullopt; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.block_ == b.block_ || (a.block_ && b.block_ && a.block_->value == b.block_->value);
  }

 private:
  struct Block {
    T value;
    std::atomic<uint32_t> owners = 1;
  };
  static const T& none() {
    static const T value{};
    return value;
  }
  Block* block_ = nullptr;
};

/// An immutable text that copies share, for words that many nodes repeat. Reads as a `std::string`.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) : text_(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  SharedText(std::string_view text) : text_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  SharedText(const char* text) : text_(std::string(text)) {}       // NOLINT(google-explicit-constructor)

  const std::string& str() const { return *text_; }
  operator const std::string&() const { return *text_; }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const { return *text_; }    // NOLINT(google-explicit-constructor)

  bool empty() const { return str().empty(); }
  size_t size() const { return str().size(); }
  bool starts_with(std::string_view prefix) const { return str().starts_with(prefix); }
  bool contains(std::string_view part) const { return str().find(part) != std::string::npos; }
  bool ends_with(std::string_view suffix) const { return str().ends_with(suffix); }

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.text_ == b.text_; }
  template <typename T>
    requires std::is_convertible_v<const T&, std::string_view> && (!std::is_same_v<T, SharedText>)
  friend bool operator==(const SharedText& a, const T& b) {
    return a.str() == std::string_view(b);
  }
  template <typename T>
    requires std::is_convertible_v<const T&, std::string_view> && (!std::is_same_v<T, SharedText>)
  friend auto operator<=>(const SharedText& a, const T& b) {
    return std::string_view(a) <=> std::string_view(b);
  }
  friend std::string operator+(const std::string& a, const SharedText& b) { return a + b.str(); }
  friend std::string operator+(const SharedText& a, const std::string& b) { return a.str() + b; }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) { return out << text.str(); }

 private:
  Shared<std::string> text_;
};

}  // namespace sapwood::graph
