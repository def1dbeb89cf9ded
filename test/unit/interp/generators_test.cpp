// Recomputed random operators on an accelerator: forward and backward have a generator each, and draw the same numbers.

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include "graph/text.h"
#include "ops/op_table.h"
#include "pair_run.h"
#include "random/joint_graphs.h"

namespace sapwood::interp {
namespace {

using graph::Graph;
using graph::NodeId;

constexpr std::string_view kGraphsafe = "higher_order.graphsafe_run_with_rng_state";

/// States of the generator, before each random operator of the joint graph.
struct DrawnRun {
  StepRun run;
  std::vector<at::Tensor> before;
};

bool draws(const Graph& graph, const graph::Node& node) {
  return node.kind == graph::NodeKind::kCallFunction && ops::draws_numbers(ops::describe(graph, node), node);
}

DrawnRun run_drawing(const Graph& joint, const Values& inputs, uint64_t seed, ReferenceDevice& device) {
  DrawnRun drawn;
  at::manual_seed(seed);
  const at::Generator generator = at::detail::getDefaultCPUGenerator();
  at::Tensor state = generator.get_state();
  const auto remember = [&](const graph::Node& node, const c10::IValue&) {
    if (draws(joint, node)) drawn.before.push_back(state);
    state = generator.get_state();
  };
  drawn.run = run_joint(joint, inputs, seed, RunOptions{.observer = remember, .device = &device});
  return drawn;
}

int count(const Graph& graph, std::string_view target) {
  int found = 0;
  for (const NodeId id : graph.order()) found += graph[id].is_call(target) ? 1 : 0;
  return found;
}

/// Inputs of the generators, by name: those of each pair start where the joint graph's operator did.
void start_generators(const Graph& part, const std::vector<at::Tensor>& before, ByName& by_name) {
  for (const NodeId id : part.placeholders()) {
    const std::string& name = part[id].name;
    if (name.find("_rng_state_") == std::string::npos) continue;
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>();
    generator.set_state(before.at(std::stoul(name.substr(name.rfind('_') + 1))));
    by_name[name] = generator;
  }
}

TEST(Generators, ForwardAndBackwardDrawTheJointGraphsNumbers) {
  at::set_num_threads(1);
  test::RandomJointOptions options;
  options.checkpoint = 1;
  options.collective = options.effect = options.dead_code = 0;
  options.dropout = 3;
  int compared = 0;
  for (uint32_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    const Graph recorded = on_accelerator(test::random_joint_graph(options, seed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + graph::print_text(recorded));
    Graph joint = recorded;
    const partition::Plan plan = partition::partition(joint, {});
    const partition::ForwardBackward pair = partition::extract(joint, plan);
    ReferenceDevice device;
    const Values inputs = make_random_inputs(recorded, seed);
    const DrawnRun whole = run_drawing(recorded, inputs, seed, device);
    // An operator that isn't replayed draws from the default generator, which the others don't move here.
    const int replayed = count(pair.forward, kGraphsafe);
    if (replayed == 0 || std::cmp_not_equal(replayed, whole.before.size())) continue;
    EXPECT_EQ(count(pair.backward, kGraphsafe), replayed);
    StepRun halves;
    halves.inputs = copies(inputs);
    ByName by_name = named_inputs(recorded, halves.inputs);
    start_generators(pair.forward, whole.before, by_name);
    start_generators(pair.backward, whole.before, by_name);
    const RunOptions how{.observer = {}, .device = &device};
    halves.outputs = run(pair.forward, gather(pair.forward, by_name, seed), how);
    hand_over(pair.forward, halves.outputs, by_name);
    halves.outputs.resize(static_cast<size_t>(recorded.num_forward_outputs));
    const Values gradients = run(pair.backward, gather(pair.backward, by_name, seed), how);
    halves.outputs.insert(halves.outputs.end(), gradients.begin(), gradients.end());
    const auto difference = first_difference(recorded, whole.run, halves);
    EXPECT_FALSE(difference) << *difference << " differs";
    ++compared;
  }
  if (!HasFailure()) EXPECT_GT(compared, 10) << "hardly any graph replays random numbers";
}

}  // namespace
}  // namespace sapwood::interp
