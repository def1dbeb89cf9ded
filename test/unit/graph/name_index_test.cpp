#include "graph/name_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sapwood::graph {
namespace {

/// Names from a small range, so that they come back, and come in long runs of probes.
TEST(NameIndex, AnswersAsAMapDoes) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<Node> nodes;
    std::map<std::string, NodeId> expected;
    NameIndex index;
    if (seed % 2 == 0) index.reserve(200);
    for (int step = 0; step < 4000; ++step) {
      const std::string name = "n" + std::to_string(random() % 300);
      const auto known = expected.find(name);
      ASSERT_EQ(index.find(nodes, name), known == expected.end() ? kNoNode : known->second) << name;
      if (known != expected.end() && random() % 2 == 0) {
        index.erase(nodes, known->second);
        expected.erase(known);
        continue;
      }
      const auto id = static_cast<NodeId>(nodes.size());
      ASSERT_EQ(index.insert(nodes, id, name), known == expected.end()) << name;
      expected.try_emplace(name, id);
      nodes.emplace_back().name = name;
    }
    for (int i = 0; i < 300; ++i) {
      const std::string name = "n" + std::to_string(i);
      EXPECT_EQ(index.find(nodes, name), expected.contains(name) ? expected[name] : kNoNode) << name;
    }
  }
}

}  // namespace
}  // namespace sapwood::graph
