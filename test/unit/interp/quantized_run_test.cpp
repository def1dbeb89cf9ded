// Saved tensors in eight bits: outputs stay as they are, gradients stay near.

#include <gtest/gtest.h>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>

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

/// y = sin(x) in one type, whose gradient reads the cosine.
Graph sine(DType dtype) {
  graph::TensorMeta meta;
  meta.dtype = dtype;
  meta.shape = {32, 48};
  meta.stride = std::vector<graph::SymExpr>{48, 1};
  meta.offset = graph::SymExpr(0);
  meta.storage_bytes = graph::SymExpr(32 * 48 * graph::dtype_bytes(dtype));
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
        expect_acquitted(c.joint, c.quantized);
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
  const QuantizedCase scaled = quantized_case(sine(DType::kFloat32), options_for(DType::kFloat8E5M2, true));
  const QuantizedCase unscaled = quantized_case(sine(DType::kFloat32), options_for(DType::kFloat8E5M2, false));
  Values inputs = make_random_inputs(scaled.joint, 1);
  inputs[0] = inputs[0].toTensor() + 12;  // e^12 = 162755, beyond 57344
  const auto gradient = [&](const QuantizedCase& c) {
    return run_pair(c.joint, c.quantized, inputs, 1).outputs[1].toTensor();
  };
  EXPECT_TRUE(gradient(scaled).isfinite().all().item<bool>());
  EXPECT_FALSE(gradient(unscaled).isfinite().all().item<bool>());
}

/// One value through eight bits, written down a second time: rows of the last dimension are scaled to the range.
at::Tensor rounded(const at::Tensor& value, const QuantizationOptions& options) {
  const at::ScalarType type = to_torch(options.dtype);
  if (!options.use_scaling) return value.to(type).to(value.scalar_type());
  const double largest = options.dtype == DType::kFloat8E5M2 ? 57344.0 : 448.0;
  const at::Tensor row = value.abs().amax(-1, true).to(at::kDouble).clamp_min(1e-12);
  const at::Tensor scale = row.reciprocal().mul(largest).to(at::kFloat);
  const at::Tensor small = value.to(at::kFloat).mul(scale).clamp(-largest, largest).to(type);
  return small.to(value.scalar_type()).div(scale).to(value.scalar_type());
}

/// Half of the last place, a little for the scale and for the value's own type, and what lies below the smallest
/// number.
void expect_near(const at::Tensor& exact, const at::Tensor& near, const QuantizationOptions& options) {
  const bool wide = options.dtype == DType::kFloat8E5M2;
  const at::Tensor row = exact.abs().amax(-1, true).to(at::kDouble);
  const at::Tensor floor = row * (wide ? 0x1p-17 / 57344 : 0x1p-10 / 448) + 1e-12;
  const at::Tensor error = (near.to(at::kDouble) - exact.to(at::kDouble)).abs();
  const double relative = rounding(options.dtype) + 0x1p-7;
  EXPECT_TRUE((error <= relative * exact.to(at::kDouble).abs() + floor).all().item<bool>());
}

/// The plain backward on values that were rounded here.
Values gradients_of_rounded(const QuantizedCase& c, const Values& inputs, const QuantizationOptions& options) {
  ByName values = named_inputs(c.joint, inputs);
  at::manual_seed(1);
  hand_over(c.plain.forward, run(c.plain.forward, gather(c.plain.forward, values, 1)), values);
  for (const partition::QuantizedTensor& tensor : c.report.tensors) {
    const at::Tensor exact = values.at(tensor.name).toTensor();
    const at::Tensor near = rounded(exact, options);
    if (options.use_scaling) expect_near(exact, near, options);
    values[tensor.name] = near;
  }
  return run(c.plain.backward, gather(c.plain.backward, values, 1));
}

class Quantized : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

void expect_rounds_and_nothing_else(const Graph& joint, const QuantizationOptions& options) {
  SCOPED_TRACE(std::string(graph::dtype_name(options.dtype)) + (options.use_scaling ? ", scaled" : ""));
  const QuantizedCase c = quantized_case(joint, options);
  ASSERT_FALSE(c.report.tensors.empty());
  EXPECT_LT(c.report.bytes_after(), c.report.bytes_before());
  const Values inputs = make_random_inputs(c.joint, 1);
  const StepRun plain = run_pair(c.joint, c.plain, inputs, 1);
  const StepRun quantized = run_pair(c.joint, c.quantized, inputs, 1);
  const Values gradients = gradients_of_rounded(c, copies(inputs), options);
  const auto forward = static_cast<size_t>(c.joint.num_forward_outputs);
  for (size_t i = 0; i < forward; ++i) EXPECT_TRUE(same_bits(plain.outputs[i], quantized.outputs[i])) << "output " << i;
  for (size_t i = forward; i < plain.outputs.size(); ++i)
    EXPECT_TRUE(same_bits(gradients[i - forward], quantized.outputs[i])) << "output " << i;
}

TEST_P(Quantized, TheBackwardReadsRoundedValuesAndNothingElseChanges) {
  const Graph joint = load_model(GetParam());
  for (const DType dtype : {DType::kFloat8E5M2, DType::kFloat8E4M3FN})
    for (const bool scaled : {true, false}) expect_rounds_and_nothing_else(joint, options_for(dtype, scaled));
}

INSTANTIATE_TEST_SUITE_P(Models, Quantized,
                         testing::Values("chargpt_selective", "distilbert", "gcn", "mlp", "mlp_dynamic", "resnet18",
                                         "t5", "vae"),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::interp
