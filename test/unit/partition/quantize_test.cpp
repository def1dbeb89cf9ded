#include "partition/quantize.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "unit/partition/corpus.h"
#include "unit/partition/pair_text.h"

namespace sapwood::partition {
namespace {

using graph::DType;
using test::Lines;

QuantizationOptions small_tensors_too() {
  QuantizationOptions options;
  options.enabled = true;
  options.size_in_mb = 0;
  return options;
}

/// y = cos(sin(x)); the user's output is saved as well.
ForwardBackward sine_pair() {
  return test::parse_pair(
      "  num_forward_outputs 1\n"
      "  %primals_1 : bfloat16[8, 16] = placeholder\n"
      "  %sin : bfloat16[8, 16] = aten.sin.default(%primals_1)\n"
      "  %cos : bfloat16[8, 16] = aten.cos.default(%sin)\n"
      "  return (%cos, %sin, %cos)\n",
      "  %sin : bfloat16[8, 16] = placeholder\n"
      "  %cos : bfloat16[8, 16] = placeholder\n"
      "  %tangents_1 : bfloat16[8, 16] = placeholder\n"
      "  %mul : bfloat16[8, 16] = aten.mul.Tensor(%tangents_1, %sin)\n"
      "  %mul_1 : bfloat16[8, 16] = aten.mul.Tensor(%mul, %cos)\n"
      "  return (%mul_1)\n");
}

QuantizationReport quantize(ForwardBackward& pair, const QuantizationOptions& options) {
  const QuantizationReport report = quantize_saved(pair, facts_of(pair), options);
  test::expect_sound(pair);
  return report;
}

bool should(const std::string& type, const QuantizationOptions& options, const std::string& symbols = {}) {
  const graph::Graph graph =
      graph::parse_any("graph g {\n" + symbols + "  %x : " + type + " = placeholder\n  return (%x)\n}\n");
  return should_quantize(*graph[graph.first()].val, graph.symbols, options);
}

TEST(Quantize, OffByDefault) {
  ForwardBackward pair = sine_pair();
  const Lines forward = test::node_lines(pair.forward);
  EXPECT_TRUE(quantize(pair, {}).tensors.empty());
  EXPECT_EQ(test::node_lines(pair.forward), forward);
}

TEST(Quantize, ShouldQuantizeLooksAtTypeAndSize) {
  const QuantizationOptions usual;
  EXPECT_FALSE(should("bfloat16[100, 100]", usual));
  EXPECT_TRUE(should("bfloat16[10000, 10000]", usual));
  EXPECT_FALSE(should("bfloat16[5000, 5000]", usual));  // 48 MB
  EXPECT_TRUE(should("bfloat16[1024, 51200]", usual));  // 100 MB to the byte
  EXPECT_FALSE(should("bfloat16[1023, 51200]", usual));
  EXPECT_FALSE(should("float32[10000, 10000]", usual));
  QuantizationOptions wide = small_tensors_too();
  wide.allowed_dtypes = {DType::kBFloat16, DType::kFloat32, DType::kInt32, DType::kFloat8E4M3FN};
  EXPECT_TRUE(should("float32[2, 2]", wide));
  EXPECT_FALSE(should("int32[2, 2]", wide));
  EXPECT_FALSE(should("float16[2, 2]", wide));
  EXPECT_FALSE(should("float8_e4m3fn[2, 2]", wide));
  EXPECT_FALSE(should("bfloat16[]", wide)) << "a scalar has no row to take the maximum of";
  EXPECT_FALSE(should("bfloat16[4, 0]", wide));
  EXPECT_FALSE(should("bfloat16[0, 4]", wide));
}

TEST(Quantize, ShouldQuantizeDecidesSymbolsByHintOrByBounds) {
  QuantizationOptions options;
  const std::string large = "  symbol s0 = 100000 in [2, 1000000]\n";
  const std::string unknown = "  symbol u0 in [0, inf] unbacked\n";
  EXPECT_TRUE(should("bfloat16[s0, 1000]", options, large));
  EXPECT_FALSE(should("bfloat16[u0, 1000]", options, unknown));
  options.skip_dynamo_guards = true;
  EXPECT_FALSE(should("bfloat16[s0, 1000]", options, large)) << "the bounds leave it open";
  EXPECT_FALSE(should("bfloat16[u0, 1000]", options, unknown));
  EXPECT_TRUE(should("bfloat16[100000, 1000]", options));
  EXPECT_TRUE(should("bfloat16[s0, 1000]", options, "  symbol s0 = 60000 in [55000, 1000000]\n"));
  options.quantize_dynamic_shape = true;
  EXPECT_TRUE(should("bfloat16[s0, 1000]", options, large));
  EXPECT_TRUE(should("bfloat16[u0, 1000]", options, unknown));
  EXPECT_FALSE(should("bfloat16[s0, 1000]", options, "  symbol s0 = 60 in [2, 1000]\n")) << "never large enough";
  EXPECT_FALSE(should("bfloat16[100, 1000]", options));
  EXPECT_TRUE(should("bfloat16[s0 + 60000, 1000]", options, "  symbol s0 = 3 in [2, inf]\n"));
}

TEST(Quantize, ScaledForwardIsThatOfPyTorch) {
  ForwardBackward pair = sine_pair();
  quantize(pair, small_tensors_too());
  // Node for node what PyTorch 2.13 makes of the same pair, also where names and strides go.
  EXPECT_EQ(test::call_lines(pair.forward),
            (Lines{
                "%sin : bfloat16[8, 16] = aten.sin.default(%primals_1)",
                "%abs_default : bfloat16[8, 16] = aten.abs.default(%sin)",
                "%amax_default : bfloat16[8, 1] = aten.amax.default(%abs_default, [-1], True)",
                "%convert_element_type_default : float64[8, 1] = prims.convert_element_type.default(%amax_default, "
                "float64)",
                "%clamp_min_default : float64[8, 1] = aten.clamp_min.default(%convert_element_type_default, 1e-12)",
                "%reciprocal_default : float64[8, 1] = aten.reciprocal.default(%clamp_min_default)",
                "%mul_tensor : float64[8, 1] = aten.mul.Tensor(%reciprocal_default, 57344.0)",
                "%fp8_scale_pos_1_sin : float32[8, 1] = prims.convert_element_type.default(%mul_tensor, float32)",
                "%convert_element_type_default_1 : float32[8, 16] = prims.convert_element_type.default(%sin, float32)",
                "%mul_tensor_1 : float32[8, 16] = aten.mul.Tensor(%convert_element_type_default_1, "
                "%fp8_scale_pos_1_sin)",
                "%clamp_min_default_1 : float32[8, 16] = aten.clamp_min.default(%mul_tensor_1, -57344.0)",
                "%clamp_max_default : float32[8, 16] = aten.clamp_max.default(%clamp_min_default_1, 57344.0)",
                "%fp8_quant_pos_1_sin : float8_e5m2[8, 16] = prims.convert_element_type.default(%clamp_max_default, "
                "float8_e5m2)",
                "%cos : bfloat16[8, 16] = aten.cos.default(%sin)",
                "%abs_default_1 : bfloat16[8, 16] = aten.abs.default(%cos)",
                "%amax_default_1 : bfloat16[8, 1] = aten.amax.default(%abs_default_1, [-1], True)",
                "%convert_element_type_default_2 : float64[8, 1] = "
                "prims.convert_element_type.default(%amax_default_1, float64)",
                "%clamp_min_default_2 : float64[8, 1] = aten.clamp_min.default(%convert_element_type_default_2, 1e-12)",
                "%reciprocal_default_1 : float64[8, 1] = aten.reciprocal.default(%clamp_min_default_2)",
                "%mul_tensor_2 : float64[8, 1] = aten.mul.Tensor(%reciprocal_default_1, 57344.0)",
                "%fp8_scale_pos_2_cos : float32[8, 1] = prims.convert_element_type.default(%mul_tensor_2, float32)",
                "%convert_element_type_default_3 : float32[8, 16] = prims.convert_element_type.default(%cos, float32)",
                "%mul_tensor_3 : float32[8, 16] = aten.mul.Tensor(%convert_element_type_default_3, "
                "%fp8_scale_pos_2_cos)",
                "%clamp_min_default_3 : float32[8, 16] = aten.clamp_min.default(%mul_tensor_3, -57344.0)",
                "%clamp_max_default_1 : float32[8, 16] = aten.clamp_max.default(%clamp_min_default_3, 57344.0)",
                "%fp8_quant_pos_2_cos : float8_e5m2[8, 16] = prims.convert_element_type.default(%clamp_max_default_1, "
                "float8_e5m2)",
                "return (%cos, %fp8_quant_pos_1_sin, %fp8_quant_pos_2_cos, %fp8_scale_pos_1_sin, "
                "%fp8_scale_pos_2_cos)",
            }));
}

TEST(Quantize, ScaledBackwardIsThatOfPyTorch) {
  ForwardBackward pair = sine_pair();
  quantize(pair, small_tensors_too());
  // PyTorch puts the calls between the placeholders; here they come behind them, in the same order.
  EXPECT_EQ(test::node_lines(pair.backward),
            (Lines{
                "%fp8_quant_pos_1_sin : float8_e5m2[8, 16] = placeholder",
                "%fp8_quant_pos_2_cos : float8_e5m2[8, 16] = placeholder",
                "%fp8_scale_pos_1_sin : float32[8, 1] = placeholder",
                "%fp8_scale_pos_2_cos : float32[8, 1] = placeholder",
                "%tangents_1 : bfloat16[8, 16] = placeholder",
                "%convert_element_type_default : bfloat16[8, 16] = "
                "prims.convert_element_type.default(%fp8_quant_pos_1_sin, bfloat16)",
                "%div_tensor : float32[8, 16] = aten.div.Tensor(%convert_element_type_default, %fp8_scale_pos_1_sin)",
                "%convert_element_type_default_1 : bfloat16[8, 16] = prims.convert_element_type.default(%div_tensor, "
                "bfloat16)",
                "%convert_element_type_default_2 : bfloat16[8, 16] = "
                "prims.convert_element_type.default(%fp8_quant_pos_2_cos, bfloat16)",
                "%div_tensor_1 : float32[8, 16] = aten.div.Tensor(%convert_element_type_default_2, "
                "%fp8_scale_pos_2_cos)",
                "%convert_element_type_default_3 : bfloat16[8, 16] = "
                "prims.convert_element_type.default(%div_tensor_1, bfloat16)",
                "%mul : bfloat16[8, 16] = aten.mul.Tensor(%tangents_1, %convert_element_type_default_1)",
                "%mul_1 : bfloat16[8, 16] = aten.mul.Tensor(%mul, %convert_element_type_default_3)",
                "return (%mul_1)",
            }));
}

TEST(Quantize, WithoutScalingBothHalvesOnlyConvert) {
  ForwardBackward pair = sine_pair();
  QuantizationOptions options = small_tensors_too();
  options.use_scaling = false;
  const QuantizationReport report = quantize(pair, options);
  EXPECT_EQ(test::call_lines(pair.forward),
            (Lines{"%sin : bfloat16[8, 16] = aten.sin.default(%primals_1)",
                   "%fp8_quant_pos_1_sin : float8_e5m2[8, 16] = prims.convert_element_type.default(%sin, float8_e5m2)",
                   "%cos : bfloat16[8, 16] = aten.cos.default(%sin)",
                   "%fp8_quant_pos_2_cos : float8_e5m2[8, 16] = prims.convert_element_type.default(%cos, float8_e5m2)",
                   "return (%cos, %fp8_quant_pos_1_sin, %fp8_quant_pos_2_cos)"}));
  EXPECT_EQ(
      test::call_lines(pair.backward),
      (Lines{"%dequant_fp8_quant_pos_1_sin : bfloat16[8, 16] = "
             "prims.convert_element_type.default(%fp8_quant_pos_1_sin, bfloat16)",
             "%dequant_fp8_quant_pos_2_cos : bfloat16[8, 16] = "
             "prims.convert_element_type.default(%fp8_quant_pos_2_cos, bfloat16)",
             "%mul : bfloat16[8, 16] = aten.mul.Tensor(%tangents_1, %dequant_fp8_quant_pos_1_sin)",
             "%mul_1 : bfloat16[8, 16] = aten.mul.Tensor(%mul, %dequant_fp8_quant_pos_2_cos)", "return (%mul_1)"}));
  EXPECT_EQ(report.tensors[0].scale, "");
}

TEST(Quantize, HalvesAgreeOnScalingWhenNothingIsSaid) {
  // PyTorch's forward scales by default and its backward doesn't scale back.
  ForwardBackward pair = sine_pair();
  QuantizationOptions options;
  options.enabled = true;
  options.size_in_mb = 0;
  quantize(pair, options);
  const int64_t scales = std::ranges::count_if(test::output_names(pair.forward),
                                               [](const std::string& name) { return name.starts_with("fp8_scale_"); });
  EXPECT_EQ(scales, 2);
  EXPECT_EQ(test::count_calls(pair.backward, "aten.div.Tensor"), scales);
}

TEST(Quantize, ReportNamesEveryTensorWithItsBytes) {
  ForwardBackward pair = sine_pair();
  const QuantizationReport report = quantize(pair, small_tensors_too());
  ASSERT_EQ(report.tensors.size(), 2u);
  const QuantizedTensor& first = report.tensors[0];
  EXPECT_EQ(first.name, "sin");
  EXPECT_EQ(first.quantized, "fp8_quant_pos_1_sin");
  EXPECT_EQ(first.scale, "fp8_scale_pos_1_sin");
  EXPECT_EQ(first.dtype, DType::kBFloat16);
  EXPECT_EQ(first.bytes_before, 8 * 16 * 2);
  EXPECT_EQ(first.bytes_after, 8 * 16 + 8 * 4);
  EXPECT_EQ(report.bytes_before(), 512);
  EXPECT_EQ(report.bytes_after(), 320);
}

TEST(Quantize, UserOutputStaysAsItIsAlsoWhenItIsSaved) {
  ForwardBackward pair = sine_pair();
  quantize(pair, small_tensors_too());
  EXPECT_EQ(test::output_names(pair.forward).front(), "cos");
  // Only its saved position is quantised, so the backward has one placeholder for it.
  const Lines inputs = test::placeholder_names(pair.backward);
  EXPECT_EQ(std::ranges::count(inputs, "fp8_quant_pos_2_cos"), 1);
  EXPECT_EQ(inputs.size(), 5u);
  // If the user's position is its only one, nothing happens to it.
  ForwardBackward returned = test::parse_pair(
      "  num_forward_outputs 1\n  %primals_1 : bfloat16[8, 16] = placeholder\n"
      "  %sin : bfloat16[8, 16] = aten.sin.default(%primals_1)\n  return (%sin, %primals_1)\n",
      "  %primals_1 : bfloat16[8, 16] = placeholder\n  %tangents_1 : bfloat16[8, 16] = placeholder\n"
      "  %mul : bfloat16[8, 16] = aten.mul.Tensor(%tangents_1, %primals_1)\n  return (%mul)\n");
  PairFacts facts = facts_of(returned);
  facts.saved.emplace_back("sin");
  EXPECT_EQ(quantize_saved(returned, facts, small_tensors_too()).tensors.size(), 1u);
  EXPECT_EQ(test::output_names(returned.forward).front(), "sin");
  test::expect_sound(returned);
}

TEST(Quantize, ValueOutputTwiceIsQuantisedAtBothPositions) {
  ForwardBackward pair = test::parse_pair(
      "  %primals_1 : bfloat16[100, 100] = placeholder\n"
      "  %mul : bfloat16[100, 100] = aten.mul.Tensor(%primals_1, %primals_1)\n"
      "  %add : float32[100, 100] = aten.add.Tensor(%mul, %mul)\n"
      "  return (%mul, %add, %mul)\n",
      "  %mul : bfloat16[100, 100] = placeholder\n"
      "  %add : float32[100, 100] = placeholder\n"
      "  %tangents_1 : bfloat16[100, 100] = placeholder\n"
      "  %mul_1 : bfloat16[100, 100] = aten.mul.Tensor(%tangents_1, %mul)\n"
      "  %mul_2 : float32[100, 100] = aten.mul.Tensor(%mul_1, %add)\n"
      "  %mul_3 : float32[100, 100] = aten.mul.Tensor(%mul_2, %mul)\n"
      "  return (%mul_3)\n");
  const QuantizationReport report = quantize(pair, small_tensors_too());
  EXPECT_EQ(test::output_names(pair.forward),
            (Lines{"fp8_quant_pos_0_mul", "add", "fp8_quant_pos_2_mul", "fp8_scale_pos_0_mul", "fp8_scale_pos_2_mul"}));
  EXPECT_EQ(test::placeholder_names(pair.backward),
            (Lines{"fp8_quant_pos_0_mul", "fp8_quant_pos_2_mul", "add", "fp8_scale_pos_0_mul", "fp8_scale_pos_2_mul",
                   "tangents_1"}));
  ASSERT_EQ(report.tensors.size(), 2u);
  EXPECT_EQ(report.tensors[1].scale, "fp8_scale_pos_2_mul");
  for (const char* name : {"fp8_quant_pos_0_mul", "fp8_quant_pos_2_mul"})
    EXPECT_LE(pair.backward[pair.backward.find(name)].users.size(), 1u) << name;
}

TEST(Quantize, EachValueIsScaledBackByItsOwnScale) {
  // The scales come in another order than a count by kind would give: only names pair them.
  ForwardBackward pair = test::parse_pair(
      "  %primals_1 : bfloat16[4, 4] = placeholder\n  %primals_2 : bfloat16[2, 8] = placeholder\n"
      "  return (%primals_2, %primals_1)\n",
      "  %primals_1 : bfloat16[4, 4] = placeholder\n  %primals_2 : bfloat16[2, 8] = placeholder\n"
      "  %tangents_1 : bfloat16[4, 4] = placeholder\n"
      "  %mul : bfloat16[4, 4] = aten.mul.Tensor(%tangents_1, %primals_1)\n"
      "  %sin : bfloat16[2, 8] = aten.sin.default(%primals_2)\n  return (%mul, %sin)\n");
  quantize(pair, small_tensors_too());
  for (const graph::NodeId id : pair.backward.order()) {
    if (!pair.backward[id].is_call("aten.div.Tensor")) continue;
    const std::vector<graph::NodeId> read = pair.backward.inputs(id);
    const std::string& quantized = pair.backward[pair.backward.inputs(read[0]).front()].name;
    EXPECT_EQ(pair.backward[read[1]].name, "fp8_scale_" + quantized.substr(std::string("fp8_quant_").size()));
  }
  EXPECT_EQ(test::count_calls(pair.backward, "aten.div.Tensor"), 2);
}

TEST(Quantize, ScalesComeBehindTensorsAndBeforeSymbols) {
  ForwardBackward pair = test::parse_pair(
      "  num_forward_outputs 1\n  symbol s0 = 8 in [2, inf]\n"
      "  %primals_1 : symint(s0) = placeholder\n  %primals_2 : bfloat16[s0, 16] = placeholder\n"
      "  %sin : bfloat16[s0, 16] = aten.sin.default(%primals_2)\n"
      "  return (%sin, %primals_2, None, %primals_1)\n",
      "  symbol s0 = 8 in [2, inf]\n"
      "  %primals_1 : symint(s0) = placeholder\n  %primals_2 : bfloat16[s0, 16] = placeholder\n"
      "  %tangents_1 : bfloat16[s0, 16] = placeholder\n  %bwd_seed_0 : int64[] = placeholder\n"
      "  %mul : bfloat16[s0, 16] = aten.mul.Tensor(%tangents_1, %primals_2)\n  return (%mul)\n");
  const QuantizationReport report = quantize(pair, small_tensors_too());
  EXPECT_EQ(test::output_names(pair.forward),
            (Lines{"sin", "fp8_quant_pos_1_primals_2", "None", "fp8_scale_pos_1_primals_2", "primals_1"}));
  EXPECT_EQ(test::placeholder_names(pair.backward),
            (Lines{"primals_1", "fp8_quant_pos_1_primals_2", "fp8_scale_pos_1_primals_2", "tangents_1", "bwd_seed_0"}));
  const graph::TensorMeta& scale = *pair.forward[pair.forward.find("fp8_scale_pos_1_primals_2")].tensor();
  EXPECT_EQ(scale.shape[0].str(), "s0");
  EXPECT_EQ(scale.storage_bytes->str(), "4*s0");
  EXPECT_EQ(report.bytes_after(), 8 * 16 + 8 * 4) << "hints stand for symbols";
}

TEST(Quantize, StaticInputsAreLeftAloneAndPrimalsOnRequest) {
  const std::string forward =
      "  num_forward_outputs 1\n  static_lifetime_inputs [0]\n"
      "  %primals_1 : bfloat16[4, 4] = placeholder\n  %primals_2 : bfloat16[4, 4] = placeholder\n"
      "  %mm : bfloat16[4, 4] = aten.mm.default(%primals_1, %primals_2)\n"
      "  return (%mm, %primals_1, %primals_2, %mm)\n";
  const std::string backward =
      "  %primals_1 : bfloat16[4, 4] = placeholder\n  %primals_2 : bfloat16[4, 4] = placeholder\n"
      "  %mm : bfloat16[4, 4] = placeholder\n  %tangents_1 : bfloat16[4, 4] = placeholder\n"
      "  %a : bfloat16[4, 4] = aten.mm.default(%tangents_1, %primals_1)\n"
      "  %b : bfloat16[4, 4] = aten.mm.default(%primals_2, %mm)\n  return (%a, %b)\n";
  ForwardBackward pair = test::parse_pair(forward, backward);
  quantize(pair, small_tensors_too());
  EXPECT_EQ(test::output_names(pair.forward),
            (Lines{"mm", "primals_1", "fp8_quant_pos_2_primals_2", "fp8_quant_pos_3_mm", "fp8_scale_pos_2_primals_2",
                   "fp8_scale_pos_3_mm"}));
  ForwardBackward without = test::parse_pair(forward, backward);
  QuantizationOptions options = small_tensors_too();
  options.exclude_primals = true;
  quantize(without, options);
  EXPECT_EQ(test::output_names(without.forward),
            (Lines{"mm", "primals_1", "primals_2", "fp8_quant_pos_3_mm", "fp8_scale_pos_3_mm"}));
}

TEST(Quantize, RangeIsThatOfTheType) {
  for (const auto& [dtype, largest] :
       {std::pair{DType::kFloat8E4M3FN, "448.0"}, std::pair{DType::kFloat8E4M3FNUZ, "240.0"},
        std::pair{DType::kFloat8E5M2FNUZ, "57344.0"}}) {
    ForwardBackward pair = sine_pair();
    QuantizationOptions options = small_tensors_too();
    options.dtype = dtype;
    quantize(pair, options);
    const Lines lines = test::call_lines(pair.forward);
    EXPECT_TRUE(std::ranges::count(lines,
                                   "%clamp_max_default : float32[8, 16] = aten.clamp_max.default("
                                   "%clamp_min_default_1, " +
                                       std::string(largest) + ")"))
        << largest;
  }
  ForwardBackward pair = sine_pair();
  QuantizationOptions options = small_tensors_too();
  options.dtype = DType::kFloat8E8M0FNU;
  try {
    quantize(pair, options);
    FAIL() << "has no negative values";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_NE(error.message().find("float8_e8m0fnu"), std::string::npos) << error.message();
  }
}

TEST(Quantize, LayoutsAreThoseThatPyTorchComputes) {
  struct Case {
    std::string type, quantized, scale;
  };
  // Recorded from PyTorch: dense layouts stay, gaps and broadcasts are closed, the maximum is row-major.
  for (const Case& c : {Case{"bfloat16[4, 6, 8]{1, 32, 4}", "float8_e5m2[4, 6, 8]{1, 32, 4}", "float32[4, 6, 1]"},
                        Case{"bfloat16[4, 1, 8]{1, 1, 4}", "float8_e5m2[4, 1, 8]{1, 1, 4}", "float32[4, 1, 1]"},
                        Case{"bfloat16[4, 6, 8]{100, 16, 2}", "float8_e5m2[4, 6, 8]", "float32[4, 6, 1]"},
                        Case{"bfloat16[4, 6, 8]{0, 8, 1}", "float8_e5m2[4, 6, 8]", "float32[4, 6, 1]"}}) {
    ForwardBackward pair = test::parse_pair("  %primals_1 : " + c.type + " = placeholder\n  return (%primals_1)\n",
                                            "  %primals_1 : " + c.type + " = placeholder\n  %sin : " + c.type +
                                                " = aten.sin.default(%primals_1)\n  return (%sin)\n");
    quantize(pair, small_tensors_too());
    const Lines inputs = test::node_lines(pair.backward);
    EXPECT_EQ(inputs[0], "%fp8_quant_pos_0_primals_1 : " + c.quantized + " = placeholder");
    EXPECT_EQ(inputs[1], "%fp8_scale_pos_0_primals_1 : " + c.scale + " = placeholder");
  }
}

TEST(Quantize, CanWidenBeforeTheFirstUseOnly) {
  ForwardBackward pair = sine_pair();
  QuantizationOptions options = small_tensors_too();
  options.dequantize_at_first_use = true;
  quantize(pair, options);
  EXPECT_EQ(
      test::node_names(pair.backward),
      (Lines{"fp8_quant_pos_1_sin", "fp8_quant_pos_2_cos", "fp8_scale_pos_1_sin", "fp8_scale_pos_2_cos", "tangents_1",
             "convert_element_type_default", "div_tensor", "convert_element_type_default_1", "mul",
             "convert_element_type_default_2", "div_tensor_1", "convert_element_type_default_3", "mul_1", "output"}));
}

TEST(Quantize, MissingPlaceholderIsAnError) {
  ForwardBackward pair = sine_pair();
  pair.backward.rename(pair.backward.find("sin"), "sine");
  EXPECT_THROW(quantize_saved(pair, facts_of(pair), small_tensors_too()), Error);
}

TEST(Quantize, EveryCorpusPairStaysSound) {
  for (const std::string& model : test::small_corpus_models()) {
    graph::Graph joint = test::corpus_graph(model);
    const Plan plan = partition(joint, {});
    ForwardBackward pair = extract(joint, plan);
    if (pair.backward.find("rng_state_output_0") != graph::kNoNode) continue;  // has another name in the forward
    QuantizationOptions options = small_tensors_too();
    options.allowed_dtypes = {DType::kFloat32, DType::kBFloat16};
    const PairFacts facts = facts_of(pair);
    const size_t outputs = pair.forward.output_values().size();
    const QuantizationReport report = quantize(pair, options);
    EXPECT_EQ(pair.forward.output_values().size(), outputs + report.tensors.size()) << model;
    EXPECT_EQ(test::count_calls(pair.backward, "aten.abs.default"), 0) << model;
    for (const QuantizedTensor& tensor : report.tensors) {
      EXPECT_EQ(pair.backward.find(tensor.name), graph::kNoNode) << model << " " << tensor.name;
      EXPECT_LE(pair.backward[pair.backward.find(tensor.quantized)].users.size(), 1u) << model;
      EXPECT_LT(tensor.bytes_after, 2 * tensor.bytes_before) << model;
    }
  }
}

}  // namespace
}  // namespace sapwood::partition
