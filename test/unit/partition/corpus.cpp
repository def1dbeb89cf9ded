#include "unit/partition/corpus.h"

#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "graph/text.h"

namespace sapwood::test {
namespace {

namespace fs = std::filesystem;

fs::path folder(const std::string& model) { return fs::path(SAPWOOD_TEST_DATA) / "corpus" / model; }

std::string unpack(const fs::path& path) {
  const std::string packed = read_file(path);
  std::string text(ZSTD_getFrameContentSize(packed.data(), packed.size()), '\0');
  const size_t size = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  if (ZSTD_isError(size)) throw std::runtime_error(path.string() + ": " + ZSTD_getErrorName(size));
  return text;
}

}  // namespace

std::vector<std::string> corpus_models() {
  std::vector<std::string> models;
  for (const auto& entry : fs::directory_iterator(fs::path(SAPWOOD_TEST_DATA) / "corpus"))
    if (fs::exists(entry.path() / "graph.json.zst")) models.push_back(entry.path().filename().string());
  std::ranges::sort(models);
  return models;
}

std::vector<std::string> small_corpus_models() {
  std::vector<std::string> models = corpus_models();
  std::erase_if(models, [](const std::string& model) { return !fs::exists(folder(model) / "network.json.zst"); });
  return models;
}

graph::Graph corpus_graph(const std::string& model) {
  return graph::parse_json(unpack(folder(model) / "graph.json.zst"));
}

nlohmann::json corpus_graph_json(const std::string& model) {
  return nlohmann::json::parse(unpack(folder(model) / "graph.json.zst"));
}

nlohmann::json corpus_decisions(const std::string& model) {
  return nlohmann::json::parse(unpack(folder(model) / "decisions.json.zst"));
}

nlohmann::json corpus_network(const std::string& model) {
  return nlohmann::json::parse(unpack(folder(model) / "network.json.zst"));
}

std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes) {
  std::vector<std::string> names;
  for (const graph::NodeId id : nodes) names.push_back(graph[id].name);
  return names;
}

}  // namespace sapwood::test
