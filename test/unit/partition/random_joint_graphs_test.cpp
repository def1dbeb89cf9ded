// The library of random joint graphs itself.

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "graph/text.h"
#include "ops/verify_calls.h"
#include "partition/classify.h"
#include "partition/partition.h"
#include "random/joint_graphs.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::NodeId;
using test::random_joint_graph;
using test::RandomJointOptions;

constexpr uint32_t kSeeds = 500;

std::string violations(const Graph& g) {
  std::string text;
  for (const graph::Violation& violation : ops::verify_all(g)) text += violation.rule + ": " + violation.message + "\n";
  return text;
}

TEST(RandomJointGraphs, AreSound) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const Graph g = random_joint_graph({}, seed);
    ASSERT_EQ(violations(g), "") << "seed " << seed << "\n" << graph::print_text(g);
  }
}

TEST(RandomJointGraphs, AreTheSameForTheSameSeed) {
  for (uint32_t seed = 1; seed <= 50; ++seed)
    ASSERT_EQ(graph::print_text(random_joint_graph({}, seed)), graph::print_text(random_joint_graph({}, seed))) << seed;
  EXPECT_NE(graph::print_text(random_joint_graph({}, 1)), graph::print_text(random_joint_graph({}, 2)));
}

TEST(RandomJointGraphs, AreSplitByBothMethods) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Method method : {Method::kDefault, Method::kMinCut}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (method == Method::kDefault ? ", default" : ", min cut"));
      Graph joint = random_joint_graph({}, seed);
      PartitionOptions options;
      options.method = method;
      const Plan plan = partition(joint, options);
      const ForwardBackward parts = extract(joint, plan);
      ASSERT_EQ(violations(parts.forward), "") << graph::print_text(joint);
      ASSERT_EQ(violations(parts.backward), "") << graph::print_text(joint);
    }
  }
}

/// How often each operator occurs, and some features, in many graphs.
std::map<std::string, int> count_features(const RandomJointOptions& options) {
  std::map<std::string, int> count;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const Graph g = random_joint_graph(options, seed);
    for (const NodeId id : g.order()) {
      const graph::Node& node = g[id];
      ++count[node.kind == graph::NodeKind::kPlaceholder ? node.target.str().substr(0, 7) : node.target.str()];
      if (node.meta->ac_graph_id) ++count["region"];
      if (node.users.size() > 2) ++count["fan out"];
      if (node.meta->partitioner_tag == graph::PartitionerTag::kMustBeInForward) ++count["written in forward"];
      if (node.meta->partitioner_tag == graph::PartitionerTag::kMustBeInBackward) ++count["written in backward"];
      if (node.tensor() && node.tensor()->dtype == graph::DType::kBFloat16) ++count["bfloat16"];
    }
    const JointView view = view_joint(g, true);
    const Classification classes = classify(view);
    for (const NodeId id : view.backward_outputs) {
      if (id == graph::kNoNode) ++count["no gradient"];
      if (id != graph::kNoNode && !classes.in_closure(id)) ++count["returned value"];
    }
    if (!g.symbols.empty()) ++count["symbolic"];
    if (!g.static_lifetime_inputs.empty()) ++count["static"];
  }
  return count;
}

TEST(RandomJointGraphs, HaveEveryFeature) {
  std::map<std::string, int> count = count_features({});
  for (const char* feature : {"aten.mm.default",
                              "aten.addmm.default",
                              "aten.sin.default",
                              "aten.gelu_backward.default",
                              "aten.add.Tensor",
                              "aten.sum.dim_IntList",
                              "aten.mean.dim",
                              "aten.t.default",
                              "aten.permute.default",
                              "aten.view.default",
                              "aten.expand.default",
                              "aten.slice.Tensor",
                              "aten.slice_backward.default",
                              "aten.unsqueeze.default",
                              "aten.cat.default",
                              "aten.split.Tensor",
                              "operator.getitem",
                              "aten.var_mean.correction",
                              "aten.native_dropout.default",
                              "aten.rand_like.default",
                              "aten.gt.Scalar",
                              "aten.embedding.default",
                              "aten.index.Tensor",
                              "aten.index_put.default",
                              "_c10d_functional.all_reduce.default",
                              "_c10d_functional.wait_tensor.default",
                              "aten.copy_.default",
                              "higher_order.with_effects",
                              "aten.sym_size.int",
                              "operator.mul",
                              "operator.add",
                              "aten._to_copy.default",
                              "prims.convert_element_type.default",
                              "aten.clone.default",
                              "tangent",
                              "region",
                              "fan out",
                              "written in forward",
                              "written in backward",
                              "bfloat16",
                              "no gradient",
                              "returned value",
                              "symbolic",
                              "static"})
    EXPECT_GT(count[feature], 2) << feature;
}

TEST(RandomJointGraphs, LeaveOutWhatIsSwitchedOff) {
  RandomJointOptions options;
  options.collective = options.effect = options.dropout = options.conversion = options.view = 0;
  options.mutation = options.checkpoint = options.symbolic = options.static_input = 0;
  std::map<std::string, int> count = count_features(options);
  for (const char* feature :
       {"_c10d_functional.all_reduce.default", "higher_order.with_effects", "aten.native_dropout.default",
        "aten.rand_like.default", "bfloat16", "aten.unsqueeze.default", "aten.copy_.default", "region", "symbolic",
        "static", "aten.sym_size.int"})
    EXPECT_EQ(count[feature], 0) << feature;
}

TEST(Shrink, KeepsWhatFailsAndLittleElse) {
  // "Fails" wherever a dropout's mask is read in the backward.
  const auto fails = [](const Graph& g) {
    for (const NodeId id : g.order())
      if (g[id].target == "aten.native_dropout_backward.default") return true;
    return false;
  };
  int shrunk = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph g = random_joint_graph({}, seed);
    if (!fails(g)) continue;
    const Graph small = test::shrink(g, fails);
    ASSERT_TRUE(fails(small));
    ASSERT_EQ(violations(small), "");
    // The operator, its two inputs, the output.
    ASSERT_LE(small.size(), 4u) << graph::print_text(small);
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

TEST(Shrink, ShowsTheDefectThroughThePartitioner) {
  // A plan that saves a product: what is left has one product and a reader of it in the backward.
  const auto saves_a_product = [](const Graph& g) {
    Graph joint = g;
    try {
      for (const SavedValue& saved : partition(joint, {}).saved)
        if (joint[saved.node].target == "aten.mm.default") return true;
    } catch (const Error&) {
    }
    return false;
  };
  int shrunk = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Graph g = random_joint_graph({}, seed);
    if (!saves_a_product(g)) continue;
    const Graph small = test::shrink(g, saves_a_product);
    ASSERT_TRUE(saves_a_product(small));
    ASSERT_LE(small.size(), 10u) << graph::print_text(small);
    ++shrunk;
  }
  EXPECT_GT(shrunk, 5);
}

}  // namespace
}  // namespace sapwood::partition
