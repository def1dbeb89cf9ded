// What partitioners insert: generator states, transfers, quantisation.

#include <gtest/gtest.h>

#include "unit/check/written_pair.h"

namespace sapwood::check {
namespace {

using test::broken;
using test::with;
using test::WrittenPair;
using Rules = std::set<std::string>;

/// Two saved values wait on the host.
const WrittenPair kOffload = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4]<device=cuda:0> = placeholder
  %tangents_1 : float32[4]<device=cuda:0> = placeholder
  %exp : float32[4]<device=cuda:0> = aten.exp.default(%primals_1)
  %sin : float32[4]<device=cuda:0> = aten.sin.default(%exp)
  %cos : float32[4]<device=cuda:0> = aten.cos.default(%exp)
  %mul : float32[4]<device=cuda:0> = aten.mul.Tensor(%tangents_1, %cos)
  %mul_1 : float32[4]<device=cuda:0> = aten.mul.Tensor(%mul, %exp)
  return (%sin, %mul_1))",
    R"(%primals_1 : float32[4]<device=cuda:0> = placeholder
  %exp : float32[4]<device=cuda:0> = aten.exp.default(%primals_1)
  %sin : float32[4]<device=cuda:0> = aten.sin.default(%exp)
  %cos : float32[4]<device=cuda:0> = aten.cos.default(%exp)
  %cpu_offload_cos : float32[4] = prims.device_put.default(%cos, device("cpu"), non_blocking=True)
  %async_cpu_offload_exp : float32[4] = ao.offload.default(%exp)
  %cpu_offload_exp : float32[4] = ao.wait_tensor.default(%async_cpu_offload_exp, %exp)
  return (%sin, %cpu_offload_exp, %cpu_offload_cos))",
    R"(%cpu_offload_exp : float32[4] = placeholder
  %cpu_offload_cos : float32[4] = placeholder
  %tangents_1 : float32[4]<device=cuda:0> = placeholder
  %gpu_reload_cos : float32[4]<device=cuda:0> = prims.device_put.default(%cpu_offload_cos, device("cuda:0"), non_blocking=True)
  %mul : float32[4]<device=cuda:0> = aten.mul.Tensor(%tangents_1, %gpu_reload_cos)
  %async_gpu_reload_exp : float32[4]<device=cuda:0> = ao.reload.default(%cpu_offload_exp, device("cuda:0"), [4], [1])
  %gpu_reload_exp : float32[4]<device=cuda:0> = ao.wait_tensor.default(%async_gpu_reload_exp, %cpu_offload_exp)
  %mul_1 : float32[4]<device=cuda:0> = aten.mul.Tensor(%mul, %gpu_reload_exp)
  return (%mul_1))"};

TEST(CheckInsertions, OffloadedValuesComeBack) {
  EXPECT_EQ(broken(kOffload), Rules{});
  EXPECT_EQ(broken(kOffload, {.allow_offload = false}), Rules{"insertion-paired"});
}

TEST(CheckInsertions, AHostCopyIsNotTheValue) {
  WrittenPair pair = kOffload;
  pair.backward = with(pair.backward, "(%tangents_1, %gpu_reload_cos)", "(%tangents_1, %cpu_offload_cos)");
  EXPECT_EQ(broken(pair), Rules{"insertion-paired"});
}

TEST(CheckInsertions, ATransferIsAwaited) {
  WrittenPair pair = kOffload;
  pair.backward = with(pair.backward, "(%mul, %gpu_reload_exp)", "(%mul, %async_gpu_reload_exp)");
  EXPECT_EQ(broken(pair), Rules{"insertion-paired"});
  pair = kOffload;
  pair.forward = with(pair.forward, "return (%sin, %cpu_offload_exp,", "return (%sin, %async_cpu_offload_exp,");
  EXPECT_NE(broken(pair), Rules{});
}

TEST(CheckInsertions, AReloadReachesTheOldDevice) {
  WrittenPair pair = kOffload;
  pair.backward = with(pair.backward, "(%cpu_offload_cos, device(\"cuda:0\")", "(%cpu_offload_cos, device(\"cuda:1\")");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
}

TEST(CheckInsertions, EachValueComesBackFromItsOwnCopy) {
  WrittenPair pair = kOffload;
  pair.backward = with(pair.backward, "default(%cpu_offload_cos, device", "default(%cpu_offload_exp, device");
  EXPECT_TRUE(broken(pair).contains("node-from-joint"));
  pair = kOffload;
  pair.forward =
      with(pair.forward, "(%sin, %cpu_offload_exp, %cpu_offload_cos)", "(%sin, %cpu_offload_cos, %cpu_offload_exp)");
  EXPECT_TRUE(broken(pair).contains("backward-input-exists"));
}

TEST(CheckInsertions, AHostCopyKeepsTheStateOfItsMemory) {
  // The forward overwrites the value: a copy from before is right, one from behind isn't.
  WrittenPair pair = kOffload;
  const std::string write =
      "  %copy_ : float32[4]<alias=%exp> = aten.copy_.default(%exp, %sin)  # partitioner_tag=must_be_in_forward\n";
  pair.joint = with(pair.joint, "  return", write + "  return");
  pair.forward = with(pair.forward, "  return", write + "  return");
  EXPECT_EQ(broken(pair), Rules{});
  pair.forward = with(pair.forward, write, "");
  pair.forward = with(pair.forward, "  %async_cpu_offload_exp :", write + "  %async_cpu_offload_exp :");
  EXPECT_TRUE(broken(pair).contains("mutation-not-read-late"));
}

std::string scaled(const std::string& name, int position) {
  const std::string n = std::to_string(position);
  const std::string end = "pos_" + n + "_" + name;
  return "  %abs_" + n + " : bfloat16[4] = aten.abs.default(%" + name + ")\n" + "  %amax_" + n +
         " : bfloat16[1] = aten.amax.default(%abs_" + n + ", [-1], True)\n" + "  %wide_" + n +
         " : float64[1] = prims.convert_element_type.default(%amax_" + n + ", float64)\n" + "  %least_" + n +
         " : float64[1] = aten.clamp_min.default(%wide_" + n + ", 1e-12)\n" + "  %inverse_" + n +
         " : float64[1] = aten.reciprocal.default(%least_" + n + ")\n" + "  %times_" + n +
         " : float64[1] = aten.mul.Tensor(%inverse_" + n + ", 57344.0)\n" + "  %fp8_scale_" + end +
         " : float32[1] = prims.convert_element_type.default(%times_" + n + ", float32)\n" + "  %full_" + n +
         " : float32[4] = prims.convert_element_type.default(%" + name + ", float32)\n" + "  %product_" + n +
         " : float32[4] = aten.mul.Tensor(%full_" + n + ", %fp8_scale_" + end + ")\n" + "  %low_" + n +
         " : float32[4] = aten.clamp_min.default(%product_" + n + ", -57344.0)\n" + "  %high_" + n +
         " : float32[4] = aten.clamp_max.default(%low_" + n + ", 57344.0)\n" + "  %fp8_quant_" + end +
         " : float8_e5m2[4] = prims.convert_element_type.default(%high_" + n + ", float8_e5m2)\n";
}

std::string unscaled(const std::string& name, int position) {
  const std::string n = std::to_string(position);
  const std::string end = "pos_" + n + "_" + name;
  return "  %raised_" + n + " : bfloat16[4] = prims.convert_element_type.default(%fp8_quant_" + end + ", bfloat16)\n" +
         "  %divided_" + n + " : float32[4] = aten.div.Tensor(%raised_" + n + ", %fp8_scale_" + end + ")\n" +
         "  %back_" + n + " : bfloat16[4] = prims.convert_element_type.default(%divided_" + n + ", bfloat16)\n";
}

/// Two saved values in fp8, each with its scale; the joint graph has an `abs` of its own.
WrittenPair quantised() {
  const std::string body =
      "  %exp : bfloat16[4] = aten.exp.default(%primals_1)\n"
      "  %sin : bfloat16[4] = aten.sin.default(%exp)\n"
      "  %cos : bfloat16[4] = aten.cos.default(%exp)\n"
      "  %abs : bfloat16[4] = aten.abs.default(%exp)\n"
      "  %add : bfloat16[4] = aten.add.Tensor(%sin, %abs)\n";
  return {
      "num_forward_outputs 1\n  %primals_1 : bfloat16[4] = placeholder\n"
      "  %tangents_1 : bfloat16[4] = placeholder\n" +
          body +
          "  %mul : bfloat16[4] = aten.mul.Tensor(%tangents_1, %cos)\n"
          "  %mul_1 : bfloat16[4] = aten.mul.Tensor(%mul, %exp)\n"
          "  return (%add, %mul_1)",
      "  %primals_1 : bfloat16[4] = placeholder\n" + body + scaled("exp", 1) + scaled("cos", 2) +
          "  return (%add, %fp8_quant_pos_1_exp, %fp8_quant_pos_2_cos, %fp8_scale_pos_1_exp, "
          "%fp8_scale_pos_2_cos)",
      "  %fp8_quant_pos_1_exp : float8_e5m2[4] = placeholder\n"
      "  %fp8_quant_pos_2_cos : float8_e5m2[4] = placeholder\n"
      "  %fp8_scale_pos_1_exp : float32[1] = placeholder\n"
      "  %fp8_scale_pos_2_cos : float32[1] = placeholder\n"
      "  %tangents_1 : bfloat16[4] = placeholder\n" +
          unscaled("exp", 1) + unscaled("cos", 2) +
          "  %mul : bfloat16[4] = aten.mul.Tensor(%tangents_1, %back_2)\n"
          "  %mul_1 : bfloat16[4] = aten.mul.Tensor(%mul, %back_1)\n"
          "  return (%mul_1)"};
}

TEST(CheckInsertions, QuantisedValuesComeBackWithTheirOwnScale) {
  EXPECT_EQ(broken(quantised()), Rules{});
  EXPECT_EQ(broken(quantised(), {.allow_quantized = false}), Rules{"insertion-paired"});
}

TEST(CheckInsertions, ExchangedScalesAreFound) {
  WrittenPair pair = quantised();
  pair.backward = with(pair.backward, "(%raised_1, %fp8_scale_pos_1_exp)", "(%raised_1, %fp8_scale_pos_2_cos)");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
  pair = quantised();
  pair.forward = with(pair.forward, "(%full_2, %fp8_scale_pos_2_cos)", "(%full_2, %fp8_scale_pos_1_exp)");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
  pair = quantised();
  pair.forward =
      with(pair.forward, "%fp8_scale_pos_1_exp, %fp8_scale_pos_2_cos)", "%fp8_scale_pos_2_cos, %fp8_scale_pos_1_exp)");
  EXPECT_TRUE(broken(pair).contains("backward-input-exists"));
}

TEST(CheckInsertions, AScaledValueIsUnscaled) {
  // What PyTorch does if its option is absent: the forward scales, the backward only converts.
  WrittenPair pair = quantised();
  pair.backward = with(pair.backward, "(%tangents_1, %back_2)", "(%tangents_1, %raised_2)");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
}

TEST(CheckInsertions, AnUnscaledValueIsNotUnscaled) {
  WrittenPair pair = quantised();
  pair.forward = with(pair.forward, "default(%high_2, float8_e5m2)", "default(%cos, float8_e5m2)");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
}

TEST(CheckInsertions, AUserOutputIsNotQuantised) {
  WrittenPair pair = quantised();
  pair.joint = with(pair.joint, "return (%add,", "return (%exp,");
  pair.forward = with(pair.forward, "return (%add,", "return (%fp8_quant_pos_1_exp,");
  EXPECT_TRUE(broken(pair).contains("outputs-equal"));
}

TEST(CheckInsertions, AQuantisedValueIsWhatItsNameSays) {
  WrittenPair pair = quantised();
  pair.forward = with(pair.forward, "default(%exp, float32)", "default(%cos, float32)");
  EXPECT_TRUE(broken(pair).contains("insertion-paired"));
}

/// A checkpoint draws again from generators of its own.
const WrittenPair kGenerators = {
    R"(num_forward_outputs 1
  %primals_1 : float32[4] = placeholder
  %tangents_1 : float32[4] = placeholder
  %rand : float32[4] = aten.rand.default([4])
  %rand_1 : float32[4] = aten.rand.default([4])
  %mul : float32[4] = aten.mul.Tensor(%primals_1, %rand)
  %mul_1 : float32[4] = aten.mul.Tensor(%mul, %rand_1)
  %mul_2 : float32[4] = aten.mul.Tensor(%tangents_1, %rand_1)
  %mul_3 : float32[4] = aten.mul.Tensor(%mul_2, %rand)
  return (%mul_1, %mul_3))",
    R"(%primals_1 : float32[4] = placeholder
  %fwd_rng_state_0 : opaque("generator") = placeholder
  %fwd_rng_state_1 : opaque("generator") = placeholder
  %graphsafe : float32[4] = higher_order.graphsafe_run_with_rng_state(operator("aten.rand.default"), [4], rng_state=%fwd_rng_state_0)
  %graphsafe_1 : float32[4] = higher_order.graphsafe_run_with_rng_state(operator("aten.rand.default"), [4], rng_state=%fwd_rng_state_1)
  %mul : float32[4] = aten.mul.Tensor(%primals_1, %graphsafe)
  %mul_1 : float32[4] = aten.mul.Tensor(%mul, %graphsafe_1)
  return (%mul_1))",
    R"(%tangents_1 : float32[4] = placeholder
  %bwd_rng_state_0 : opaque("generator") = placeholder
  %bwd_rng_state_1 : opaque("generator") = placeholder
  %graphsafe : float32[4] = higher_order.graphsafe_run_with_rng_state(operator("aten.rand.default"), [4], rng_state=%bwd_rng_state_0)
  %graphsafe_1 : float32[4] = higher_order.graphsafe_run_with_rng_state(operator("aten.rand.default"), [4], rng_state=%bwd_rng_state_1)
  %mul_2 : float32[4] = aten.mul.Tensor(%tangents_1, %graphsafe_1)
  %mul_3 : float32[4] = aten.mul.Tensor(%mul_2, %graphsafe)
  return (%mul_3))"};

TEST(CheckInsertions, GeneratorsAreSharedByNumber) {
  EXPECT_EQ(broken(kGenerators), Rules{});
  WrittenPair pair = kGenerators;
  pair.backward = with(pair.backward, "rng_state=%bwd_rng_state_1", "rng_state=%bwd_rng_state_0");
  EXPECT_EQ(broken(pair), Rules{"random-once"});
  pair = kGenerators;
  pair.backward = with(pair.backward, "rng_state=%bwd_rng_state_0", "rng_state=%bwd_rng_state_2");
  pair.backward = with(pair.backward, "%bwd_rng_state_0 :", "%bwd_rng_state_2 :");
  EXPECT_EQ(broken(pair), Rules{"random-once"});
}

TEST(CheckInsertions, ADrawWithoutGeneratorIsNotReplayed) {
  WrittenPair pair = kGenerators;
  pair.backward = with(pair.backward,
                       "higher_order.graphsafe_run_with_rng_state(operator(\"aten.rand.default\"), [4], "
                       "rng_state=%bwd_rng_state_0)",
                       "aten.rand.default([4])");
  EXPECT_EQ(broken(pair), Rules{"random-once"});
}

}  // namespace
}  // namespace sapwood::check
