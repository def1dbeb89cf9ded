#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sapwood {

/// The candidate most like `wanted` (smallest edit distance, first on a tie), or empty if none is close enough to be a
/// likely typing error.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> candidates);

/// "; did you mean \"mm\"?" for a likely typing error, otherwise empty: made to be appended to an error message.
std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> candidates);

/// `text` in double quotes, shortened to `limit` bytes with control characters and bytes that are not UTF-8 replaced,
/// for use inside an error message.
std::string quoted_excerpt(std::string_view text, size_t limit = 60);

}  // namespace sapwood
