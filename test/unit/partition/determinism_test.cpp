// The same graph gives the same plan and the same parts, byte for byte, whatever numbers its nodes have.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "graph/text.h"
#include "partition/plan_file.h"
#include "partition/remap.h"
#include "random/joint_graphs.h"
#include "unit/partition/scenarios.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

/// The same graph in the same order, whose nodes have other ids: they are added in another order, each where it
/// belongs.
Graph renumbered(const Graph& original, uint32_t seed) {
  const std::vector<NodeId> order = original.order();
  Graph result = original;
  for (auto id = order.rbegin(); id != order.rend(); ++id) result.erase(*id);
  // Nodes are put in as empty calls first, since what a node reads must be there.
  std::vector<size_t> places(order.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::mt19937 random(seed);
  std::shuffle(places.begin(), places.end(), random);
  std::vector<NodeId> moved(original.id_bound(), kNoNode);
  std::vector<NodeId> there(order.size(), kNoNode);
  for (const size_t place : places) {
    const auto next = std::find_if(there.begin() + static_cast<std::ptrdiff_t>(place), there.end(),
                                   [](NodeId id) { return id != kNoNode; });
    result.set_insertion_point(next == there.end() ? kNoNode : *next);
    Node node = original[order[place]];
    node.args.clear();
    node.kwargs.clear();
    node.users.clear();
    there[place] = moved[static_cast<size_t>(order[place])] = result.add(std::move(node));
  }
  result.set_insertion_point(kNoNode);
  for (const NodeId id : order) {
    Node node = original[id];
    remap_nodes(node, [&](NodeId read) { return moved[static_cast<size_t>(read)]; });
    result.set_args(moved[static_cast<size_t>(id)], node.args);
    result.set_kwargs(moved[static_cast<size_t>(id)], node.kwargs);
  }
  for (const NodeId id : order) {
    std::vector<NodeId> users;
    for (const NodeId user : original[id].users) users.push_back(moved[static_cast<size_t>(user)]);
    result.set_user_order(moved[static_cast<size_t>(id)], users);
  }
  return result;
}

std::string decided(Graph joint, const PartitionOptions& options) {
  const Plan plan = partition(joint, options);
  const ForwardBackward parts = extract(joint, plan);
  return print_plan(joint, plan, options) + graph::print_text(parts.forward) + graph::print_text(parts.backward) +
         graph::print_json(parts.backward);
}

TEST(Determinism, RenumberingKeepsTheGraph) {
  const Graph g = test::scenario("ac2_two_blocks_in_sequence");
  const Graph other = renumbered(g, 1);
  EXPECT_EQ(graph::print_json(g), graph::print_json(other));
  EXPECT_NE(g.find("cos"), other.find("cos"));
}

TEST(Determinism, ShuffledIdsGiveEqualPlansAndGraphs) {
  constexpr uint32_t kRuns = 20;
  for (const char* name :
       {"ac2_two_blocks_in_sequence", "ac14_random_operator", "pa11_sizes_among_outputs", "residual_products",
        "gathered_weights_in_regions", "multinomial_rows", "changed_in_both_halves", "other_regions_with_dropout"}) {
    for (const Compatibility mode : test::modes()) {
      for (const double budget : {1.0, 0.4}) {
        const Graph joint = test::scenario(name);
        const std::string first = decided(joint, test::in_mode(mode, budget));
        for (uint32_t seed = 1; seed <= kRuns; ++seed)
          ASSERT_EQ(decided(renumbered(joint, seed), test::in_mode(mode, budget)), first)
              << name << ", " << test::mode_name(mode) << ", budget " << budget << ", seed " << seed;
      }
    }
  }
}

TEST(Determinism, RandomGraphsGiveEqualPlansAndGraphs) {
  for (uint32_t seed = 1; seed <= 100; ++seed) {
    const Graph joint = test::random_joint_graph({}, seed);
    for (const double budget : {1.0, 0.5}) {
      const PartitionOptions options = test::in_mode(Compatibility::kRepaired, budget);
      ASSERT_EQ(decided(renumbered(joint, seed), options), decided(joint, options)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace sapwood::partition
