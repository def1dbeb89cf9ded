#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace sapwood {
namespace {

constexpr std::string_view kStage = "file";
constexpr int kMaxLinks = 40;  // as many as Linux follows

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void throw_read(const std::filesystem::path& path, std::string_view why) {
  throw_user(kStage, "cannot read '" + path.string() + "': " + std::string(why));
}

[[noreturn]] void throw_write(const std::filesystem::path& path, std::string_view step, int error) {
  throw Error(ErrorKind::kRuntime, kStage,
              "cannot write '" + path.string() + "': " + std::string(step) + " failed: " + reason(error));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  /// The system's error number, 0 if all went well.
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return fd >= 0 && ::close(fd) != 0 ? errno : 0;
  }

 private:
  int fd_;
};

/// Removes a file on destruction unless it has been renamed away.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!kept_) ::unlink(path_.c_str());
  }
  const std::filesystem::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

uint64_t checked_size(const std::filesystem::path& path, int fd, uint64_t max_bytes) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) throw_read(path, reason(errno));
  if (S_ISDIR(info.st_mode)) throw_read(path, "it is a folder");
  if (!S_ISREG(info.st_mode)) throw_read(path, "it is not a regular file");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes)
    throw_read(path,
               "it holds " + std::to_string(size) + " bytes, more than the limit of " + std::to_string(max_bytes));
  return size;
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<uint64_t> counter{0};
  return path.string() + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
}

void write_all(const std::filesystem::path& path, int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write(path, "writing", errno);
    content.remove_prefix(static_cast<size_t>(written));
  }
}

/// Devices and pipes are written to; there is nothing to replace.
void write_in_place(const std::filesystem::path& path, std::string_view content) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) throw_write(path, "opening", errno);
  write_all(path, fd.get(), content);
  if (const int error = fd.close()) throw_write(path, "closing", error);
}

/// What a path leads to when its symbolic links are followed, whether that exists or not.
std::filesystem::path resolved(std::filesystem::path path) {
  const std::filesystem::path given = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == kMaxLinks) throw_write(given, "following the symbolic links", ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) throw_write(given, "following the symbolic link", error.value());
    path = path.parent_path() / target;  // an absolute target stands for itself
  }
  return path;
}

void flush_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) throw_write(path, "opening the folder", errno);
  // Some file systems can't flush a folder; the rename is atomic there all the same.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != ENOTSUP) throw_write(path, "flushing the folder", errno);
}

}  // namespace

std::string read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  // Non-blocking, so that opening a pipe returns and can be refused.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) throw_read(path, reason(errno));
  std::string content(checked_size(path, fd.get(), max_bytes), '\0');
  size_t have = 0;
  while (have < content.size()) {
    const ssize_t got = ::read(fd.get(), content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_read(path, reason(errno));
    if (got == 0) throw_read(path, "it became shorter while it was read");
    have += static_cast<size_t>(got);
  }
  return content;
}

void write_file_atomically(const std::filesystem::path& given, std::string_view content) {
  if (!given.has_filename())
    throw Error(ErrorKind::kRuntime, kStage, "cannot write '" + given.string() + "': no file name");
  const std::filesystem::path path = resolved(given);
  struct stat existing{};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode) && !S_ISDIR(existing.st_mode)) return write_in_place(path, content);
  const std::filesystem::path temporary = temporary_name(path);
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid()) throw_write(path, "creating a temporary file beside it", errno);
  TemporaryFile guard(temporary);
  if (exists && ::fchmod(fd.get(), existing.st_mode & 07777) != 0) throw_write(path, "setting its permissions", errno);
  write_all(path, fd.get(), content);
  if (::fsync(fd.get()) != 0) throw_write(path, "flushing", errno);
  if (const int error = fd.close()) throw_write(path, "closing", error);
  if (::rename(temporary.c_str(), path.c_str()) != 0) throw_write(path, "renaming the temporary file", errno);
  guard.keep();
  flush_folder(path);
}

}  // namespace sapwood
