#pragma once

#include <string>
#include <string_view>

namespace sapwood {

/// Whether the bytes begin as a zstd frame does.
bool is_packed(std::string_view bytes);

/// What a zstd frame holds; bytes that aren't one are returned as they are. Input may be hostile: memory grows only
/// with what really comes out. Errors: user error for a damaged or truncated frame, or one that holds more than 1 GiB.
std::string unpack(std::string_view bytes);

}  // namespace sapwood
