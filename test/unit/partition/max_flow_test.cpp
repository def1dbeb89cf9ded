#include "partition/max_flow.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace sapwood::partition {
namespace {

struct Edge {
  int32_t from;
  int32_t to;
  int64_t capacity;
  bool infinite;
};

struct Cut {
  int64_t value = INT64_MAX;
  uint32_t sink_side = 0;  ///< bit per vertex
};

/// Tries every cut; among the cheapest takes the one with the fewest vertices on the sink side.
Cut cheapest_cut(int32_t vertices, const std::vector<Edge>& edges) {
  Cut best;
  for (uint32_t side = 0; side < (1u << vertices); ++side) {
    if ((side & 1) || !(side & 2)) continue;  // vertex 0 is the source, 1 the sink
    int64_t value = 0;
    bool finite = true;
    for (const Edge& edge : edges) {
      if ((side >> edge.from & 1) || !(side >> edge.to & 1)) continue;
      finite = finite && !edge.infinite;
      value += edge.capacity;
    }
    if (!finite) continue;
    const bool smaller = __builtin_popcount(side) < __builtin_popcount(best.sink_side);
    if (value < best.value || (value == best.value && smaller)) best = {value, side};
  }
  return best;
}

TEST(MaxFlow, EqualsTheCheapestCutClosestToTheSink) {
  int bounded = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const int32_t vertices = 2 + static_cast<int32_t>(random() % 8);
    std::vector<Edge> edges;
    MaxFlow flow(vertices);
    for (uint32_t i = 0, n = random() % 25; i < n; ++i) {
      const auto from = static_cast<int32_t>(random() % static_cast<uint32_t>(vertices));
      const auto to = static_cast<int32_t>(random() % static_cast<uint32_t>(vertices));
      if (from == to) continue;
      const bool infinite = random() % 4 == 0;
      const int64_t capacity = infinite ? 0 : static_cast<int64_t>(random() % 6);
      edges.push_back({from, to, capacity, infinite});
      if (infinite)
        flow.add_infinite_edge(from, to);
      else
        flow.add_edge(from, to, capacity);
    }
    const Cut best = cheapest_cut(vertices, edges);
    const auto path = flow.infinite_path(0, 1);
    ASSERT_EQ(path.has_value(), best.value == INT64_MAX);
    if (path) continue;
    ++bounded;
    ASSERT_EQ(flow.solve(0, 1), best.value);
    const std::vector<uint8_t> side = flow.sink_side(1);
    for (int32_t v = 0; v < vertices; ++v)
      ASSERT_EQ(side[static_cast<size_t>(v)] != 0, (best.sink_side >> v & 1) != 0) << "vertex " << v;
  }
  EXPECT_GT(bounded, 500);
}

TEST(MaxFlow, InfinitePathIsListedFromSourceToSink) {
  MaxFlow flow(4);
  flow.add_edge(0, 2, 7);
  const int32_t first = flow.add_infinite_edge(0, 3);
  flow.add_infinite_edge(2, 1);
  const int32_t second = flow.add_infinite_edge(3, 2);
  const auto path = flow.infinite_path(0, 1);
  ASSERT_TRUE(path.has_value());
  ASSERT_EQ(path->size(), 3u);
  EXPECT_EQ((*path)[0], first);
  EXPECT_EQ((*path)[1], second);
  EXPECT_EQ(flow.to((*path)[2]), 1);
}

TEST(MaxFlow, LongChainsNeedNoRecursion) {
  constexpr int32_t kLength = 200000;
  MaxFlow flow(kLength + 2);
  flow.add_infinite_edge(0, 2);
  for (int32_t v = 2; v < kLength + 1; ++v) flow.add_edge(v, v + 1, 5 + v % 3);
  flow.add_infinite_edge(kLength + 1, 1);
  EXPECT_EQ(flow.solve(0, 1), 5);
}

TEST(MaxFlow, RefusesCapacitiesThatOverflow) {
  MaxFlow flow(2);
  flow.add_edge(0, 1, INT64_MAX);
  flow.add_edge(0, 1, 1);
  EXPECT_THROW(flow.solve(0, 1), Error);
}

}  // namespace
}  // namespace sapwood::partition
