#include "base/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/utf8.h"

namespace sapwood {

namespace {

constexpr size_t kLongestName = 256;  // longer text isn't a mistyped name, and the distance is quadratic

/// Edits (insert, delete, replace, swap neighbours) between two names, or `limit + 1` if there are more than `limit`.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  std::vector<size_t> above(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j] + (a[i] == b[j] ? 0 : 1), next[j] + 1, row[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) next[j + 1] = std::min(next[j + 1], above[j - 1] + 1);
    }
    if (*std::min_element(next.begin(), next.end()) > limit) return limit + 1;
    above.swap(row);
    row.swap(next);
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> candidates) {
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  size_t best_distance = std::max<size_t>(1, wanted.size() / 3) + 1;
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(wanted, candidate, best_distance - 1);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest_name(wanted, candidates);
  if (best.empty()) return {};
  return "; did you mean " + quoted_excerpt(best) + "?";
}

std::string quoted_excerpt(std::string_view text, size_t limit) {
  std::string out = "\"";
  size_t end = std::min(text.size(), limit);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  const bool readable = is_utf8(text.substr(0, end));
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !readable) ? '?' : c;
  }
  if (end < text.size()) out += "...";
  return out + "\"";
}

}  // namespace sapwood
