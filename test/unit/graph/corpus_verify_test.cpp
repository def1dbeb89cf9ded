// Every graph of the corpus keeps every rule of the IR.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace sapwood::graph {
namespace {

TEST(Verify, EveryGraphOfTheCorpusIsSound) {
  size_t graphs = 0;
  for (const auto& model : std::filesystem::directory_iterator(std::filesystem::path(SAPWOOD_TEST_DATA) / "corpus")) {
    const auto path = model.path() / "graph.json.zst";
    if (!std::filesystem::exists(path)) continue;
    const Graph graph = parse_any(read_file(path));
    ++graphs;
    for (const Violation& violation : verify(graph))
      ADD_FAILURE() << model.path().filename() << ": " << violation.rule << ": " << violation.message;
  }
  EXPECT_GE(graphs, 30U) << "the corpus is missing";
}

}  // namespace
}  // namespace sapwood::graph
