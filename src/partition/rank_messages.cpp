#include "partition/rank_messages.h"

#include <set>

namespace sapwood::partition {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasCollectives = 1;
constexpr uint8_t kNamesUnknownNode = 2;
constexpr size_t kHashBytes = 34;
constexpr size_t kMaxNameBytes = 64;

void put(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

/// Takes numbers from the front of a message.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : left_(bytes) {}

  size_t left() const { return left_.size(); }

  /// Pre: that many bytes are left.
  uint64_t take(size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(left_[i])) << (8 * i);
    left_.remove_prefix(bytes);
    return value;
  }

  std::string text(size_t bytes) {
    const std::string taken(left_.substr(0, bytes));
    left_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view left_;
};

bool is_printable(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

}  // namespace

std::string write_hash(const PlanHash& hash) {
  std::string out;
  put(out, kVersion, 1);
  put(out, (hash.has_collectives ? kHasCollectives : 0) | (hash.names_unknown_node ? kNamesUnknownNode : 0), 1);
  for (const uint64_t word : {hash.graph.high, hash.graph.low, hash.plan.high, hash.plan.low}) put(out, word, 8);
  return out;
}

std::optional<PlanHash> read_hash(std::string_view bytes) {
  if (bytes.size() != kHashBytes) return std::nullopt;
  Cursor cursor(bytes);
  if (cursor.take(1) != kVersion) return std::nullopt;
  const uint64_t flags = cursor.take(1);
  if (flags > (kHasCollectives | kNamesUnknownNode)) return std::nullopt;
  PlanHash hash;
  hash.has_collectives = (flags & kHasCollectives) != 0;
  hash.names_unknown_node = (flags & kNamesUnknownNode) != 0;
  for (uint64_t* word : {&hash.graph.high, &hash.graph.low, &hash.plan.high, &hash.plan.low}) *word = cursor.take(8);
  return hash;
}

std::string write_plan(const std::vector<std::string>& names) {
  std::string out;
  put(out, names.size(), 4);
  for (const std::string& name : names) {
    put(out, name.size(), 1);
    out += name;
  }
  return out;
}

std::optional<std::vector<std::string>> read_plan(std::string_view bytes) {
  Cursor cursor(bytes);
  if (cursor.left() < 4) return std::nullopt;
  const uint64_t count = cursor.take(4);
  if (count > cursor.left()) return std::nullopt;  // each name has a length: no more memory than the message
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  names.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t length = cursor.left() == 0 ? 0 : cursor.take(1);
    if (length == 0 || length > kMaxNameBytes || length > cursor.left()) return std::nullopt;
    names.push_back(cursor.text(length));
    if (!is_printable(names.back()) || !seen.insert(names.back()).second) return std::nullopt;
  }
  if (cursor.left() != 0) return std::nullopt;
  return names;
}

std::string write_totals(const std::vector<int64_t>& totals) {
  std::string out;
  for (const int64_t total : totals) put(out, static_cast<uint64_t>(total), 8);
  return out;
}

std::optional<std::vector<int64_t>> read_totals(std::string_view bytes, size_t count) {
  if (bytes.size() != count * 8) return std::nullopt;
  Cursor cursor(bytes);
  std::vector<int64_t> totals;
  for (size_t i = 0; i < count; ++i) {
    totals.push_back(static_cast<int64_t>(cursor.take(8)));
    if (totals.back() < 0) return std::nullopt;
  }
  return totals;
}

}  // namespace sapwood::partition
