#include "cli/graphviz.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

extern char** environ;

namespace sapwood::cli {

namespace {

namespace fs = std::filesystem;

/// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "sapwood-draw-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(ErrorKind::kRuntime, "draw", "can't make a temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

int run_dot(const std::string& form, const fs::path& source, const fs::path& picture) {
  std::array<std::string, 5> words = {"dot", "-T" + form, "-o", picture.string(), source.string()};
  std::array<char*, 6> arguments{};
  for (size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  const int error = posix_spawnp(&child, "dot", nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    throw_unsupported("draw",
                      "graphviz's program 'dot' can't be started; install it (Debian: graphviz), or write the "
                      "source with -o FILE.dot");
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::string render(const std::string& dot, const std::string& form) {
  const TemporaryFolder folder;
  write_file_atomically(folder.file("graph.dot"), dot);
  const fs::path picture = folder.file("picture");
  if (run_dot(form, folder.file("graph.dot"), picture) != 0 || !fs::exists(picture))
    throw Error(ErrorKind::kRuntime, "draw", "graphviz's program 'dot' could not draw the graph as " + form);
  return read_file(picture);
}

}  // namespace sapwood::cli
