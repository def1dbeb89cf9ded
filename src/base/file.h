#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace sapwood {

/// Largest file that read_file takes unless told otherwise, in bytes.
inline constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

/// The whole content of a regular file. Errors: user error if the path is missing, a folder or a device; if the file
/// can't be read; or if it holds more than `max_bytes` (nothing is allocated then). Thread-safe.
std::string read_file(const std::filesystem::path& path, uint64_t max_bytes = kMaxFileBytes);

/// Replaces `path` by a file with this content so that a reader, or a crash at any moment, sees the old file or the
/// whole new one: writes a temporary neighbour, flushes it to the disk, renames it, and flushes the folder. The folder
/// must exist. Several writers may race; the last rename wins. Errors: runtime error naming the path and the system's
/// reason; the temporary is removed.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace sapwood
