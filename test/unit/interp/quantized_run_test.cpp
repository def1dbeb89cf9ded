// Saved tensors in eight bits: outputs stay as they are, gradients stay near.

#include <gtest/gtest.h>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include "check/check.h"
#include "corpus_models.h"
#include "pair_run.h"
#include "partition/quantize.h"

namespace sapwood::interp {
namespace {

using graph::Argument;
using graph::DType;
using graph::Graph;
using graph::NodeId;
using partition::ForwardBackward;
using partition::QuantizationOptions;

QuantizationOptions options_for(DType dtype, bool use_scaling) {
  QuantizationOptions options;
  options.enabled = true;
  options.dtype = dtype;
  options.use_scaling = use_scaling;
  options.size_in_mb = 0;
  options.allowed_dtypes = {DType::kBFloat16, DType::kFloat16, DType::kFloat32};
  return options;
}

/// Relative error of rounding to the type: half of the last place.
double rounding(DType dtype) { return dtype == DType::kFloat8E5M2 ? 1.0 / 8 : 1.0 / 16; }

struct QuantizedCase {
  Graph joint;
  ForwardBackward plain;
  ForwardBackward quantized;
  partition::QuantizationReport report;
};

QuantizedCase quantized_case(Graph joint, const QuantizationOptions& options) {
  QuantizedCase made{std::move(joint), {}, {}, {}};
  partition::PartitionOptions how;
  how.method = partition::Method::kDefault;
  Graph prepared = made.joint;
  made.plain = partition::extract(prepared, partition::partition(prepared, how));
  made.quantized = made.plain;
  made.report = partition::quantize_saved(made.quantized, partition::facts_of(made.quantized), options);
  return made;
}

double length_of(const at::Tensor& tensor) { return tensor.to(at::kDouble).norm().item<double>(); }

/// y = sin(x) in one type, whose gradient reads the cosine.
Graph sine(DType dtype) {
  graph::TensorMeta meta{.dtype = dtype, .shape = {32, 48}};
  meta.stride = std::vector<graph::SymExpr>{48, 1};
  meta.offset = graph::SymExpr(0);
  int32_t storage = 0;
  const auto value = [&] { return meta.storage = storage++, graph::Value(meta); };
  Graph g;
  g.num_forward_outputs = 1;
  const NodeId x = g.placeholder("primals_1", value());
  const NodeId tangent = g.placeholder("tangents_1", value());
  const NodeId exp = g.call("aten.exp.default", {Argument::node(x)}, value());
  const NodeId y = g.call("aten.sin.default", {Argument::node(exp)}, value());
  for (const NodeId id : {x, tangent, exp, y}) g.meta(id).partitioner_tag = graph::PartitionerTag::kForward;
  const NodeId cosine = g.call("aten.cos.default", {Argument::node(exp)}, value());
  const NodeId inner = g.call("aten.mul.Tensor", {Argument::node(tangent), Argument::node(cosine)}, value());
  const NodeId gradient = g.call("aten.mul.Tensor", {Argument::node(inner), Argument::node(exp)}, value());
  for (const NodeId id : {cosine, inner, gradient}) g.meta(id).partitioner_tag = graph::PartitionerTag::kBackward;
  g.output({y, gradient});
  return g;
}

/// What the backward reads, by the names of the values: in the plain pair as they were, in the other rounded.
TEST(QuantizedRun, RoundedValuesAreAsNearAsTheTypeCanTell) {
  for (const DType from : {DType::kBFloat16, DType::kFloat16, DType::kFloat32})
    for (const DType to : {DType::kFloat8E5M2, DType::kFloat8E4M3FN})
      for (const bool scaled : {true, false}) {
        SCOPED_TRACE(std::string(graph::dtype_name(from)) + " to " + std::string(graph::dtype_name(to)) +
                     (scaled ? ", scaled" : ""));
        const QuantizedCase c = quantized_case(sine(from), options_for(to, scaled));
        ASSERT_EQ(c.report.tensors.size(), 1U);
        EXPECT_TRUE(check::check_pair(c.joint, c.quantized.forward, c.quantized.backward).empty());
        const Values inputs = make_random_inputs(c.joint, 1);
        const StepRun plain = run_pair(c.joint, c.plain, inputs, 1);
        const StepRun rounded = run_pair(c.joint, c.quantized, inputs, 1);
        EXPECT_TRUE(same_bits(plain.outputs[0], rounded.outputs[0])) << "the user's output";
        // d(t e cos e) by e has the relative size 1 - e tan e, at most 2 for e in [1, 1.11].
        const at::Tensor exact = plain.outputs[1].toTensor().to(at::kDouble);
        const at::Tensor error = (rounded.outputs[1].toTensor().to(at::kDouble) - exact).abs();
        EXPECT_TRUE((error <= 2.2 * rounding(to) * exact.abs() + 1e-3).all().item<bool>()) << error.max();
        EXPECT_GT(error.max().item<double>(), 0) << "nothing was rounded";
      }
}

TEST(QuantizedRun, ScalingReachesBeyondTheRangeOfTheType) {
  const QuantizedCase scaled = quantized_case(sine(DType::kFloat32), options_for(DType::kFloat8E4M3FN, true));
  const QuantizedCase plain = quantized_case(sine(DType::kFloat32), options_for(DType::kFloat8E4M3FN, false));
  Values inputs = make_random_inputs(scaled.joint, 1);
  inputs[0] = inputs[0].toTensor() + 7;  // e^7 = 1096, beyond 448
  const double exact = length_of(run_pair(scaled.joint, scaled.plain, inputs, 1).outputs[0].toTensor());
  EXPECT_TRUE(std::isfinite(exact));
  EXPECT_TRUE(run_pair(scaled.joint, scaled.quantized, inputs, 1).outputs[1].toTensor().isfinite().all().item<bool>());
  EXPECT_FALSE(run_pair(plain.joint, plain.quantized, inputs, 1).outputs[1].toTensor().isfinite().all().item<bool>());
}

class Quantized : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

TEST_P(Quantized, OutputsStayAndGradientsStayNear) {
  QuantizationOptions options = options_for(DType::kFloat8E5M2, true);
  const QuantizedCase c = quantized_case(load_model(GetParam()), options);
  ASSERT_FALSE(c.report.tensors.empty());
  EXPECT_LT(c.report.bytes_after(), c.report.bytes_before());
  const Values inputs = make_random_inputs(c.joint, 1);
  const StepRun plain = run_pair(c.joint, c.plain, inputs, 1);
  const StepRun rounded = run_pair(c.joint, c.quantized, inputs, 1);
  for (size_t i = 0; i < plain.outputs.size(); ++i) {
    if (!plain.outputs[i].isTensor()) continue;
    const at::Tensor exact = plain.outputs[i].toTensor();
    if (std::cmp_less(i, c.joint.num_forward_outputs)) {
      EXPECT_TRUE(same_bits(plain.outputs[i], rounded.outputs[i])) << "output " << i;
      continue;
    }
    const at::Tensor gradient = rounded.outputs[i].toTensor();
    EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << "output " << i;
    EXPECT_LE(length_of(gradient - exact), 0.25 * length_of(exact) + 1e-3) << "output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Quantized, testing::Values("mlp", "chargpt_selective", "gcn", "vae"),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::interp
