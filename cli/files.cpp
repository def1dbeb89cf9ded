#include "cli/files.h"

#include <array>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/file.h"
#include "graph/text.h"
#include "ops/verify_calls.h"

namespace sapwood::cli {

namespace {

std::string read_standard_input() {
  std::string bytes;
  std::array<char, 1 << 16> buffer{};
  while (std::cin.read(buffer.data(), buffer.size()) || std::cin.gcount() > 0) {
    bytes.append(buffer.data(), static_cast<size_t>(std::cin.gcount()));
    if (bytes.size() > kMaxFileBytes) throw_user("cli", "more than 1 GiB of input");
  }
  return bytes;
}

/// What `work` gives; its errors begin with the name of the file.
template <typename Work>
auto naming_file(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string shown = path == "-" ? "standard input" : path;
    throw Error(error.kind(), error.stage(), shown + ": " + error.message());
  }
}

}  // namespace

graph::Graph load_graph(const std::string& path) {
  const std::string bytes = path == "-" ? read_standard_input() : read_file(path);
  return naming_file(path, [&] { return graph::parse_any(bytes); });
}

graph::Graph load_sound_graph(const std::string& path) {
  graph::Graph graph = load_graph(path);
  naming_file(path, [&] { ops::verify_all_or_throw(graph, "cli"); });
  return graph;
}

void write_output(const std::string& path, std::string_view content) {
  if (path == "-") {
    std::cout << content;
  } else {
    write_file_atomically(path, content);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorKind::kRuntime, "cli", "can't make the folder " + path + ": " + error.message());
}

}  // namespace sapwood::cli
