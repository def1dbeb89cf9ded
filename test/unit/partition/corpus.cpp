#include "unit/partition/corpus.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/unpack.h"
#include "graph/text.h"

namespace sapwood::test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) { return unpack(read_file(path)); }

fs::path folder(const std::string& model) { return fs::path(SAPWOOD_TEST_DATA) / "corpus" / model; }

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
  return graph::parse_json(read(folder(model) / "graph.json.zst"));
}

nlohmann::json corpus_graph_json(const std::string& model) {
  return nlohmann::json::parse(read(folder(model) / "graph.json.zst"));
}

nlohmann::json corpus_decisions(const std::string& model) {
  return nlohmann::json::parse(read(folder(model) / "decisions.json.zst"));
}

nlohmann::json corpus_network(const std::string& model) {
  return nlohmann::json::parse(read(folder(model) / "network.json.zst"));
}

std::vector<std::string> names_of(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes) {
  std::vector<std::string> names;
  for (const graph::NodeId id : nodes) names.push_back(graph[id].name);
  return names;
}

}  // namespace sapwood::test
