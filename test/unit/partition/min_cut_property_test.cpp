// Random small joint graphs: the cut must cost what the cheapest of all possible choices costs.

#include <gtest/gtest.h>

#include <optional>

#include "partition/flow_network.h"
#include "partition/min_cut.h"
#include "partition/tag_rules.h"
#include "random/joint_graphs.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;

constexpr size_t kMaxCandidates = 16;

/// Small enough to try every choice; everything that the cut knows of occurs.
test::RandomJointOptions small_graphs() {
  test::RandomJointOptions options;
  options.max_operators = 4;
  options.max_inputs = 2;
  options.normalization = 0.5;  // eight nodes by itself
  return options;
}

/// By NodeId: what the backward can have if `saved` is handed over.
bool is_enough(const JointView& view, const Classification& classes, const Bans& bans,
               const std::vector<uint8_t>& saved) {
  std::vector<uint8_t> available(view.role.size(), 0);
  for (const NodeId id : view.order) {
    const auto at = static_cast<size_t>(id);
    if (view.role_of(id) == Role::kTangent) available[at] = 1;
    if (view.role_of(id) == Role::kOutput) continue;
    const bool may_compute = view.is_call(id) && !bans.contains(id);
    bool inputs_there = true;
    for (const NodeId read : view.inputs_of(id)) inputs_there = inputs_there && available[static_cast<size_t>(read)];
    available[at] = available[at] || saved[at] || (may_compute && inputs_there);
    if (classes.in_closure(id) && !available[at]) return false;
    // What a checkpoint marks is computed again, whether the backward needs it or not.
    if (!classes.in_closure(id) && view.must_recompute(id) && !inputs_there) return false;
  }
  for (const NodeId id : view.backward_outputs)
    if (id != kNoNode && !available[static_cast<size_t>(id)]) return false;
  return true;
}

/// The cost of the cheapest sufficient choice; nothing if there are too many candidates to try.
std::optional<int64_t> cheapest_choice(const JointView& view, const Classification& classes,
                                       const MinCutSolution& solution) {
  std::vector<NodeId> candidates;
  for (const NodeId id : view.order) {
    const bool saveable = view.role_of(id) != Role::kOutput && !classes.in_closure(id) && !view.must_recompute(id);
    if (saveable && !solution.weights[static_cast<size_t>(id)].infinite) candidates.push_back(id);
  }
  if (candidates.size() > kMaxCandidates) return std::nullopt;
  int64_t best = INT64_MAX;
  for (uint32_t choice = 0; choice < (1u << candidates.size()); ++choice) {
    std::vector<uint8_t> saved(view.role.size(), 0);
    int64_t cost = 0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!(choice >> i & 1)) continue;
      saved[static_cast<size_t>(candidates[i])] = 1;
      cost += solution.weights[static_cast<size_t>(candidates[i])].capacity;
    }
    if (cost < best && is_enough(view, classes, solution.bans, saved)) best = cost;
  }
  return best;
}

TEST(MinCutProperty, CostsNoMoreThanAnyOtherChoice) {
  int compared = 0;
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph joint = test::random_joint_graph(small_graphs(), seed);
    JointView view = view_joint(joint, true);
    apply_tag_rules(view, false);
    const Classification classes = classify(view);
    const MinCutSolution solution = solve_min_cut(view, classes, {});
    const auto best = cheapest_choice(view, classes, solution);
    if (!best) continue;
    ASSERT_EQ(solution.value, *best);
    std::vector<uint8_t> saved(view.role.size(), 0);
    int64_t cost = 0;
    for (const NodeId id : solution.saved) {
      saved[static_cast<size_t>(id)] = 1;
      cost += solution.weights[static_cast<size_t>(id)].capacity;
    }
    ASSERT_TRUE(is_enough(view, classes, solution.bans, saved));
    ASSERT_EQ(cost, solution.value);
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace sapwood::partition
