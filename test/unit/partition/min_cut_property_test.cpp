// Random small joint graphs: the cut must cost what the cheapest of all possible choices costs.

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "partition/flow_network.h"
#include "partition/min_cut.h"
#include "unit/partition/step_builder.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::NodeId;
using graph::PartitionerTag;
using test::arg;

constexpr size_t kMaxCandidates = 16;

/// A forward of random operators and a backward that reads random values of it.
Graph random_joint_graph(std::mt19937& random) {
  test::StepBuilder b;
  Graph& g = b.step.graph;
  const auto pick = [&](const std::vector<NodeId>& from) { return from[random() % from.size()]; };
  const auto size = [&] { return static_cast<int64_t>(1 + random() % 64); };
  std::vector<NodeId> forward;
  for (uint32_t i = 0, n = 1 + random() % 3; i < n; ++i)
    forward.push_back(g.placeholder("primals_" + std::to_string(i + 1), graph::Value(b.tensor({size()}))));
  const NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({size()})));
  const std::vector<std::string> operators = {"aten.sin.default",      "aten.mul.Tensor",  "aten.mm.default",
                                              "aten.view.default",     "aten.sum.default", "aten.cat.default",
                                              "aten.rand_like.default"};
  for (uint32_t i = 0, n = 1 + random() % 10; i < n; ++i) {
    const std::string& op = operators[random() % operators.size()];
    graph::ArgumentList args{arg(pick(forward))};
    if (op == "aten.mul.Tensor" || op == "aten.mm.default") args.push_back(arg(pick(forward)));
    forward.push_back(g.call(op, std::move(args), graph::Value(b.tensor({size()}))));
  }
  std::vector<NodeId> backward{tangent};
  for (uint32_t i = 0, n = 1 + random() % 4; i < n; ++i) {
    const NodeId read = pick(forward);
    const std::string op = random() % 3 == 0 ? "aten.mm.default" : "aten.mul.Tensor";
    backward.push_back(g.call(op, {arg(backward.back()), arg(read)}, graph::Value(b.tensor({size()}))));
  }
  g.output({forward.back(), backward.back(), random() % 4 == 0 ? pick(forward) : kNoNode});
  g.num_forward_outputs = 1;
  return g;
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
    const bool saveable = view.role_of(id) != Role::kOutput && !classes.in_closure(id);
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
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Graph joint = random_joint_graph(random);
    const JointView view = view_joint(joint, true);
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
