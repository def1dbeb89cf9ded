#pragma once

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"

namespace sapwood::graph::testing {

/// The compressed graph files of the corpus, in name order.
inline std::vector<std::filesystem::path> corpus_graphs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& model : std::filesystem::directory_iterator(std::filesystem::path(SAPWOOD_TEST_DATA) / "corpus")) {
    const std::filesystem::path path = model.path() / "graph.json.zst";
    if (std::filesystem::exists(path)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The unpacked text of a corpus file, by the plainest use of the library, independent of `parse_any`.
inline std::string unpacked(const std::filesystem::path& path) {
  const std::string packed = read_file(path);
  std::string text(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  const size_t size = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  if (size != text.size()) throw std::runtime_error("damaged corpus file " + path.string());
  return text;
}

inline std::filesystem::path corpus_graph(const std::string& model) {
  return std::filesystem::path(SAPWOOD_TEST_DATA) / "corpus" / model / "graph.json.zst";
}

}  // namespace sapwood::graph::testing
