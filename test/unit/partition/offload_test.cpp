#include "partition/offload.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "ops/op_table.h"
#include "partition/prefetch.h"
#include "passes/dead_code.h"
#include "unit/partition/corpus.h"
#include "unit/partition/pair_text.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::NodeId;
using test::Lines;

const std::string kDevice = "float32[10, 10]<device=cuda:0>";

/// Adds `: float32[10, 10]<device=cuda:0>` to every node without a type.
std::string typed(const std::string& body) {
  std::string out;
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = body.find('\n', begin);
    std::string line = body.substr(begin, end - begin);
    const size_t equals = line.find(" = ");
    if (equals != std::string::npos && line.find(" : ") == std::string::npos) line.insert(equals, " : " + kDevice);
    out += "  " + line + "\n";
    begin = end + 1;
  }
  return out;
}

std::string untyped(std::string line) {
  for (const std::string& type : {" : " + kDevice, std::string(" : float32[10, 10]")})
    if (const size_t at = line.find(type + " = "); at != std::string::npos) line.erase(at, type.size());
  return line;
}

Lines short_lines(const graph::Graph& graph) {
  Lines lines = test::call_lines(graph);
  for (std::string& line : lines) {
    line = untyped(line);
    if (line.starts_with("%stream") || line.find(" : None") != std::string::npos)
      if (const size_t at = line.find(" : None"); at != std::string::npos)
        line.erase(at, std::string(" : None").size());
  }
  return lines;
}

/// (x0+x1).sin() + (x2+x3).sin() + (x4+x5).sin() as the min cut splits it.
ForwardBackward min_cut_pair() {
  return test::parse_pair(
      "  num_forward_outputs 1\n" +
          typed("%primals_1 = placeholder\n%primals_2 = placeholder\n%primals_3 = placeholder\n"
                "%primals_4 = placeholder\n%primals_5 = placeholder\n%primals_6 = placeholder\n"
                "%add = aten.add.Tensor(%primals_1, %primals_2)\n%sin = aten.sin.default(%add)\n"
                "%add_1 = aten.add.Tensor(%primals_3, %primals_4)\n%sin_1 = aten.sin.default(%add_1)\n"
                "%add_2 = aten.add.Tensor(%sin, %sin_1)\n"
                "%add_3 = aten.add.Tensor(%primals_5, %primals_6)\n%sin_2 = aten.sin.default(%add_3)\n"
                "%add_4 = aten.add.Tensor(%add_2, %sin_2)\n%cos = aten.cos.default(%add_3)\n"
                "%cos_1 = aten.cos.default(%add_1)\n%cos_2 = aten.cos.default(%add)\n"
                "return (%add_4, %cos, %cos_1, %cos_2)\n"),
      typed("%cos = placeholder\n%cos_1 = placeholder\n%cos_2 = placeholder\n%tangents_1 = placeholder\n"
            "%mul = aten.mul.Tensor(%tangents_1, %cos)\n%mul_1 = aten.mul.Tensor(%tangents_1, %cos_1)\n"
            "%mul_2 = aten.mul.Tensor(%tangents_1, %cos_2)\n"
            "return (%mul_2, %mul_2, %mul_1, %mul_1, %mul, %mul)\n"));
}

/// The same as the default partition splits it: it saves the sums.
ForwardBackward default_pair() {
  return test::parse_pair(
      "  num_forward_outputs 1\n" +
          typed("%primals_1 = placeholder\n%primals_2 = placeholder\n%primals_3 = placeholder\n"
                "%primals_4 = placeholder\n%primals_5 = placeholder\n%primals_6 = placeholder\n"
                "%add = aten.add.Tensor(%primals_1, %primals_2)\n%sin = aten.sin.default(%add)\n"
                "%add_1 = aten.add.Tensor(%primals_3, %primals_4)\n%sin_1 = aten.sin.default(%add_1)\n"
                "%add_2 = aten.add.Tensor(%sin, %sin_1)\n"
                "%add_3 = aten.add.Tensor(%primals_5, %primals_6)\n%sin_2 = aten.sin.default(%add_3)\n"
                "%add_4 = aten.add.Tensor(%add_2, %sin_2)\n"
                "return (%add_4, %add, %add_1, %add_3)\n"),
      typed("%add = placeholder\n%add_1 = placeholder\n%add_3 = placeholder\n%tangents_1 = placeholder\n"
            "%cos = aten.cos.default(%add_3)\n%mul = aten.mul.Tensor(%tangents_1, %cos)\n"
            "%cos_1 = aten.cos.default(%add_1)\n%mul_1 = aten.mul.Tensor(%tangents_1, %cos_1)\n"
            "%cos_2 = aten.cos.default(%add)\n%mul_2 = aten.mul.Tensor(%tangents_1, %cos_2)\n"
            "return (%mul_2, %mul_2, %mul_1, %mul_1, %mul, %mul)\n"));
}

OffloadOptions offload_of(std::vector<std::string> names) {
  OffloadOptions options;
  options.enabled = true;
  options.names = std::move(names);
  return options;
}

OffloadOptions beside_computation(std::vector<std::string> names) {
  OffloadOptions options = offload_of(std::move(names));
  options.separate_stream = true;
  return options;
}

OffloadReport offload(ForwardBackward& pair, const OffloadOptions& options) {
  OffloadReport report = offload_saved(pair, facts_of(pair), options);
  test::expect_sound(pair);
  check_transfers(pair.forward);
  check_transfers(pair.backward);
  return report;
}

/// What the forward has behind the last sum.
Lines end_of(const graph::Graph& forward) {
  Lines lines = short_lines(forward);
  return {std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("%cos "); }), lines.end()};
}

TEST(Offload, OffByDefault) {
  ForwardBackward pair = min_cut_pair();
  pair.forward.meta(pair.forward.find("cos_1")).recompute = CheckpointPolicy::kMustCpuOffload;
  const Lines before = test::node_lines(pair.forward);
  EXPECT_TRUE(offload(pair, {}).tensors.empty());
  EXPECT_EQ(test::node_lines(pair.forward), before);
}

TEST(Offload, MarkedCosineWaitsOnTheHost) {
  ForwardBackward pair = min_cut_pair();
  const OffloadReport report = offload(pair, offload_of({"cos_1"}));
  EXPECT_EQ(end_of(pair.forward),
            (Lines{"%cos = aten.cos.default(%add_3)", "%cos_1 = aten.cos.default(%add_1)",
                   "%cpu_offload_cos_1 = prims.device_put.default(%cos_1, device(\"cpu\"), non_blocking=True)",
                   "%cos_2 = aten.cos.default(%add)", "return (%add_4, %cos, %cpu_offload_cos_1, %cos_2)"}));
  EXPECT_EQ(test::placeholder_names(pair.backward), (Lines{"cos", "cpu_offload_cos_1", "cos_2", "tangents_1"}));
  EXPECT_EQ(
      short_lines(pair.backward),
      (Lines{"%mul = aten.mul.Tensor(%tangents_1, %cos)",
             "%gpu_reload_cos_1 = prims.device_put.default(%cpu_offload_cos_1, device(\"cuda:0\"), "
             "non_blocking=True)",
             "%mul_1 = aten.mul.Tensor(%tangents_1, %gpu_reload_cos_1)",
             "%mul_2 = aten.mul.Tensor(%tangents_1, %cos_2)", "return (%mul_2, %mul_2, %mul_1, %mul_1, %mul, %mul)"}));
  EXPECT_EQ(pair.forward[pair.forward.find("cpu_offload_cos_1")].tensor()->device.str(), "cpu");
  EXPECT_EQ(pair.backward[pair.backward.find("gpu_reload_cos_1")].tensor()->device.str(), "cuda:0");
  EXPECT_TRUE(pair.backward[pair.backward.find("gpu_reload_cos_1")].meta->autograd_backward);
  ASSERT_EQ(report.tensors.size(), 1u);
  EXPECT_EQ(report.tensors[0].on_host, "cpu_offload_cos_1");
  EXPECT_EQ(report.tensors[0].reloaded, "gpu_reload_cos_1");
  EXPECT_EQ(report.bytes(), 400);
  EXPECT_TRUE(report.refused.empty());
}

TEST(Offload, MarkedSumIsReloadedBeforeItsCosine) {
  ForwardBackward pair = default_pair();
  pair.forward.meta(pair.forward.find("add_1")).recompute = CheckpointPolicy::kPreferCpuOffload;
  offload(pair, offload_of({}));
  EXPECT_EQ(test::output_names(pair.forward), (Lines{"add_4", "add", "cpu_offload_add_1", "add_3"}));
  // The sine is the last that reads it.
  EXPECT_EQ(pair.forward[pair.forward[pair.forward.find("sin_1")].next].name, "cpu_offload_add_1");
  EXPECT_EQ(pair.backward[pair.backward[pair.backward.find("cos_1")].prev].name, "gpu_reload_add_1");
  EXPECT_EQ(pair.backward[pair.backward.find("cos_1")].args[0],
            graph::Argument::node(pair.backward.find("gpu_reload_add_1")));
}

TEST(Offload, LegacyStreamsAreSpelledOut) {
  ForwardBackward pair = min_cut_pair();
  OffloadOptions options = beside_computation({"cos_1"});
  options.legacy_streams = true;
  offload(pair, options);
  EXPECT_EQ(end_of(pair.forward),
            (Lines{"%cos = aten.cos.default(%add_3)", "%cos_1 = aten.cos.default(%add_1)",
                   "%record_event_default = streams.record_event.default(2, 0)",
                   "%stream_in_cpu_offload_cos_1 = streams.fork.default(0, 1)",
                   "%wait_event_default = streams.wait_event.default(2, 1)",
                   "%record_stream_cos_1 = streams.record_stream.default(%cos_1, 1)",
                   "%cpu_offload_cos_1 = prims.device_put.default(%cos_1, device(\"cpu\"), non_blocking=True)",
                   "%record_event_default_1 = streams.record_event.default(3, 1)",
                   "%stream_out_cpu_offload_cos_1 = streams.join.default(1, 0)",
                   "%wait_event_default_1 = streams.wait_event.default(3, 0)", "%cos_2 = aten.cos.default(%add)",
                   "return (%add_4, %cos, %cpu_offload_cos_1, %cos_2)"}));
  EXPECT_EQ(
      short_lines(pair.backward),
      (Lines{"%mul = aten.mul.Tensor(%tangents_1, %cos)", "%stream_in_gpu_reload_cos_1 = streams.fork.default(4, 5)",
             "%wait_stream_default = streams.wait_stream.default(5, 4)",
             "%gpu_reload_cos_1 = prims.device_put.default(%cpu_offload_cos_1, device(\"cuda:0\"), "
             "non_blocking=True)",
             "%record_event_default = streams.record_event.default(6, 5)",
             "%stream_out_gpu_reload_cos_1 = streams.join.default(5, 4)",
             "%wait_event_default = streams.wait_event.default(6, 4)",
             "%mul_1 = aten.mul.Tensor(%tangents_1, %gpu_reload_cos_1)",
             "%mul_2 = aten.mul.Tensor(%tangents_1, %cos_2)", "return (%mul_2, %mul_2, %mul_1, %mul_1, %mul, %mul)"}));
}

TEST(Offload, LegacyWaitSinksAndReloadGroupRises) {
  ForwardBackward pair = min_cut_pair();
  OffloadOptions options = beside_computation({"cos_1"});
  options.legacy_streams = options.sink_wait = options.prefetch = true;
  offload(pair, options);
  const Lines forward = end_of(pair.forward);
  EXPECT_EQ(forward[forward.size() - 2], "%wait_event_default_1 = streams.wait_event.default(3, 0)");
  EXPECT_EQ(forward[forward.size() - 3], "%cos_2 = aten.cos.default(%add)");
  const Lines names = test::node_names(pair.backward);
  EXPECT_EQ(Lines(names.begin() + 4, names.end()),
            (Lines{"stream_in_gpu_reload_cos_1", "wait_stream_default", "gpu_reload_cos_1", "record_event_default",
                   "stream_out_gpu_reload_cos_1", "mul", "wait_event_default", "mul_1", "mul_2", "output"}));
}

TEST(Offload, SeparateStreamHasACopyAndAWait) {
  ForwardBackward pair = min_cut_pair();
  offload(pair, beside_computation({"cos_1"}));
  EXPECT_EQ(end_of(pair.forward),
            (Lines{"%cos = aten.cos.default(%add_3)", "%cos_1 = aten.cos.default(%add_1)",
                   "%async_cpu_offload_cos_1 = ao.offload.default(%cos_1)",
                   "%cpu_offload_cos_1 : float32[10, 10]<alias=%async_cpu_offload_cos_1> = "
                   "ao.wait_tensor.default(%async_cpu_offload_cos_1, %cos_1)",
                   "%cos_2 = aten.cos.default(%add)", "return (%add_4, %cos, %cpu_offload_cos_1, %cos_2)"}));
  EXPECT_EQ(
      short_lines(pair.backward),
      (Lines{"%mul = aten.mul.Tensor(%tangents_1, %cos)",
             "%async_gpu_reload_cos_1 = ao.reload.default(%cpu_offload_cos_1, device(\"cuda:0\"), [10, 10], "
             "[10, 1])",
             "%gpu_reload_cos_1 : float32[10, 10]<device=cuda:0, alias=%async_gpu_reload_cos_1> = "
             "ao.wait_tensor.default(%async_gpu_reload_cos_1, %cpu_offload_cos_1)",
             "%mul_1 = aten.mul.Tensor(%tangents_1, %gpu_reload_cos_1)",
             "%mul_2 = aten.mul.Tensor(%tangents_1, %cos_2)", "return (%mul_2, %mul_2, %mul_1, %mul_1, %mul, %mul)"}));
  for (const graph::Graph* graph : {&pair.forward, &pair.backward})
    for (const std::string& line : test::call_lines(*graph))
      EXPECT_EQ(line.find("streams."), std::string::npos) << line;
}

TEST(Offload, SunkWaitsAreDirectlyBeforeTheOutput) {
  ForwardBackward pair = min_cut_pair();
  OffloadOptions options = beside_computation({"cos", "cos_1", "cos_2"});
  options.sink_wait = true;
  offload(pair, options);
  const Lines names = test::node_names(pair.forward);
  EXPECT_EQ(Lines(names.begin() + 14, names.end()),
            (Lines{"cos", "async_cpu_offload_cos", "cos_1", "async_cpu_offload_cos_1", "cos_2",
                   "async_cpu_offload_cos_2", "cpu_offload_cos", "cpu_offload_cos_1", "cpu_offload_cos_2", "output"}));
}

TEST(Offload, PrefetchedReloadsPrecedeTheirWaits) {
  ForwardBackward pair = min_cut_pair();
  OffloadOptions options = beside_computation({"cos", "cos_1", "cos_2"});
  options.prefetch = true;
  offload(pair, options);
  // Nothing is said to hide a copy, so that all start at once, in the order in which they are needed.
  const Lines names = test::node_names(pair.backward);
  EXPECT_EQ(Lines(names.begin() + 4, names.end()),
            (Lines{"async_gpu_reload_cos", "async_gpu_reload_cos_1", "async_gpu_reload_cos_2", "gpu_reload_cos", "mul",
                   "gpu_reload_cos_1", "mul_1", "gpu_reload_cos_2", "mul_2", "output"}));
}

TEST(Offload, AllThreeHaveTheirCopiesAndWaits) {
  ForwardBackward pair = min_cut_pair();
  const OffloadReport report = offload(pair, beside_computation({"cos_2", "cos", "cos_1"}));
  EXPECT_EQ(test::count_calls(pair.forward, "ao.offload.default"), 3);
  EXPECT_EQ(test::count_calls(pair.forward, "ao.wait_tensor.default"), 3);
  EXPECT_EQ(test::count_calls(pair.backward, "ao.reload.default"), 3);
  EXPECT_EQ(test::count_calls(pair.backward, "ao.wait_tensor.default"), 3);
  EXPECT_EQ(report.tensors[0].name, "cos") << "in the order of the outputs";
  EXPECT_EQ(report.bytes(), 1200);
}

TEST(Offload, WaitsAreKeptThoughNothingReadsThem) {
  ForwardBackward pair = min_cut_pair();
  offload(pair, beside_computation({"cos_1"}));
  graph::Graph& backward = pair.backward;
  // A wait with an argument that is there for the order only.
  backward.set_insertion_point(backward.output());
  const NodeId copy = backward.find("async_gpu_reload_cos_1");
  const NodeId wait = backward.find("gpu_reload_cos_1");
  backward.replace_all_uses(wait, copy);
  backward.set_args(wait,
                    {graph::Argument::node(copy), graph::Argument(), graph::Argument::node(backward.find("mul"))});
  EXPECT_TRUE(backward[wait].users.empty());
  test::expect_sound(backward);
  passes::remove_dead_nodes(backward);
  EXPECT_NE(backward.find("gpu_reload_cos_1"), graph::kNoNode);
  for (const char* target :
       {"ao.wait_tensor.default", "streams.fork.default", "streams.join.default", "streams.record_event.default",
        "streams.wait_event.default", "streams.wait_stream.default", "streams.record_stream.default",
        "streams.sync_dealloc.default", "streams.synchronize_event.default"}) {
    const ops::OpInfo* info = ops::find_op(target);
    ASSERT_TRUE(info != nullptr) << target;
    EXPECT_TRUE(info->effect) << target;
  }
  for (const char* target : {"ao.offload.default", "ao.reload.default", "prims.device_put.default"}) {
    const ops::OpInfo* info = ops::find_op(target);
    ASSERT_TRUE(info != nullptr) << target;
    EXPECT_FALSE(info->effect) << target;
  }
}

TEST(Offload, ViewsExtendTheLifeOfTheirBase) {
  // transpose isn't on PyTorch's list of views, but its result reads the same memory.
  ForwardBackward pair = test::parse_pair(
      "  num_forward_outputs 1\n" +
          typed("%primals_1 = placeholder\n%sin = aten.sin.default(%primals_1)\n"
                "%t : float32[10, 10]{1, 10}<alias=%sin, device=cuda:0> = aten.transpose.int(%sin, 0, 1)\n"
                "%v : float32[100]<alias=%sin, device=cuda:0> = aten.view.default(%sin, [100])\n"
                "%cos = aten.cos.default(%sin)\n%mm = aten.mm.default(%cos, %t)\n%exp = aten.exp.default(%mm)\n"
                "return (%exp, %sin)\n"),
      typed("%sin = placeholder\n%tangents_1 = placeholder\n%mul = aten.mul.Tensor(%tangents_1, %sin)\n"
            "return (%mul)\n"));
  offload(pair, offload_of({"sin"}));
  EXPECT_EQ(pair.forward[pair.forward[pair.forward.find("mm")].next].name, "cpu_offload_sin");
}

/// Reasons by name.
std::map<std::string, std::string> refusals(const OffloadReport& report) {
  std::map<std::string, std::string> reasons;
  for (const OffloadRefusal& refusal : report.refused) reasons[refusal.name] = refusal.reason;
  return reasons;
}

TEST(Offload, EveryRefusalHasItsReason) {
  ForwardBackward pair = test::parse_pair(
      "  num_forward_outputs 2\n  static_lifetime_inputs [0]\n  symbol s0 = 8 in [2, inf]\n" +
          typed("%weight = placeholder\n%x = placeholder\n%size : symint(s0) = placeholder\n"
                "%mm = aten.mm.default(%x, %weight)\n%sin = aten.sin.default(%x)\n"
                "%view : float32[100]<alias=%sin, device=cuda:0> = aten.view.default(%sin, [100])\n"
                "%max : (float32[10]<device=cuda:0>, int64[10]<device=cuda:0>) = aten.max.dim(%x, 1)\n"
                "%getitem : float32[10]<device=cuda:0> = operator.getitem(%max, 0)\n"
                "%tilted : float32[10, 10]{1, 10}<device=cuda:0> = aten.sin.default(%x)\n"
                "%host : float32[10, 10] = prims.device_put.default(%x, device(\"cpu\"))\n"
                "%base = aten.cos.default(%x)\n%unread = aten.exp.default(%x)\n%good = aten.tanh.default(%x)\n"
                "%shared : float32[10, 10]<alias=%base, device=cuda:0> = aten.detach.default(%base)\n"
                "return (%mm, %shared, %weight, %x, %sin, %view, %getitem, %tilted, %host, %base, %unread, %good, "
                "%size)\n"),
      "  symbol s0 = 8 in [2, inf]\n" +
          typed("%size : symint(s0) = placeholder\n%weight = placeholder\n%x = placeholder\n%view : "
                "float32[100]<device=cuda:0> = placeholder\n%sin = placeholder\n"
                "%getitem : float32[10]<device=cuda:0> = placeholder\n"
                "%tilted : float32[10, 10]{1, 10}<device=cuda:0> = placeholder\n"
                "%host : float32[10, 10] = placeholder\n%base = placeholder\n%unread = placeholder\n"
                "%good = placeholder\n"
                "%tangents_1 = placeholder\n%mul = aten.mul.Tensor(%tangents_1, %good)\n"
                "%mul_1 = aten.mul.Tensor(%mul, %x)\n%mul_2 = aten.mul.Tensor(%mul_1, %base)\nreturn (%mul_2)\n"));
  const std::vector<std::string> all{"weight", "x",      "size",    "mm",   "sin",    "view", "getitem", "tilted",
                                     "host",   "shared", "nothing", "base", "unread", "good", "max"};
  const PairFacts facts = facts_of(pair);
  const OffloadReport report = offload_saved(pair, facts, beside_computation(all));
  ASSERT_EQ(report.tensors.size(), 1u);
  EXPECT_EQ(report.tensors[0].name, "good");
  EXPECT_EQ(refusals(report), (std::map<std::string, std::string>{
                                  {"mm", "it is an output of the user's, who reads it on its device"},
                                  {"shared", "it is an output of the user's, who reads it on its device"},
                                  {"weight", "it is an input that stays in memory in any case"},
                                  {"x", "it is an input, and the wait for the copy would free the caller's memory"},
                                  {"size", "it is no tensor"},
                                  {"sin", "'view' is handed out too and keeps the same memory"},
                                  {"view", "it is a view; its base can be offloaded"},
                                  {"max", "it isn't saved for the backward"},
                                  {"getitem", "it is one result of an operator with several"},
                                  {"tilted", "it isn't contiguous, so that its copy would change its layout twice"},
                                  {"host", "it is in host memory already"},
                                  {"base", "'shared' is handed out too and keeps the same memory"},
                                  {"unread", "nothing in the backward reads it"},
                                  {"nothing", "the forward has no value of this name"},
                              }));
  test::expect_sound(pair);
  // Without a stream of its own the copy frees nothing, so that an input may be copied, as in PyTorch.
  ForwardBackward plain = min_cut_pair();
  EXPECT_EQ(offload(plain, offload_of({"add_4"})).refused.size(), 1u);
}

TEST(Offload, SymbolicSizesAreTakenFromTheHostTensor) {
  const std::string type = " : float32[s0, 10]<device=cuda:0>";
  ForwardBackward pair = test::parse_pair(
      "  num_forward_outputs 1\n  symbol s0 = 8 in [2, inf]\n  %size : symint(s0) = placeholder\n  %x" + type +
          " = placeholder\n  %sin" + type + " = aten.sin.default(%x)\n  %cos" + type +
          " = aten.cos.default(%x)\n  return (%sin, %cos, %size)\n",
      "  symbol s0 = 8 in [2, inf]\n  %size : symint(s0) = placeholder\n  %cos" + type +
          " = placeholder\n  %tangents_1" + type + " = placeholder\n  %mul" + type +
          " = aten.mul.Tensor(%tangents_1, %cos)\n  return (%mul)\n");
  const OffloadReport report = offload(pair, beside_computation({"cos"}));
  EXPECT_EQ(report.bytes(), 8 * 10 * 4);
  EXPECT_EQ(pair.backward[pair.backward.find("async_gpu_reload_cos")].args.size(), 2u);
  EXPECT_EQ(pair.backward[pair.backward.find("gpu_reload_cos")].tensor()->shape[0].str(), "s0");
}

TEST(Offload, OptionsThatContradictAreRefused) {
  ForwardBackward pair = min_cut_pair();
  const auto message = [&](const OffloadOptions& options) -> std::string {
    try {
      offload_saved(pair, facts_of(pair), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return error.message();
    }
    return "no error";
  };
  OffloadOptions options = offload_of({"cos"});
  options.sink_wait = true;
  EXPECT_NE(message(options).find("sink_wait needs separate_stream"), std::string::npos);
  options.sink_wait = false;
  options.prefetch = true;
  EXPECT_NE(message(options).find("prefetch needs separate_stream"), std::string::npos);
  options.prefetch = false;
  options.legacy_streams = true;
  EXPECT_NE(message(options).find("legacy_streams needs separate_stream"), std::string::npos);
  options = offload_of({"cos"});
  options.bandwidth_gb_per_s = 0;
  EXPECT_NE(message(options).find("bandwidth_gb_per_s"), std::string::npos);
}

TEST(Offload, BackwardWithoutThePlaceholderIsAnError) {
  ForwardBackward pair = min_cut_pair();
  pair.backward.rename(pair.backward.find("cos_1"), "renamed");
  EXPECT_THROW(offload_saved(pair, facts_of(pair), offload_of({"cos_1"})), Error);
}

TEST(Offload, EveryCorpusPairStaysSoundInEveryForm) {
  std::mt19937 random(20261203);
  for (const std::string& model : test::small_corpus_models()) {
    graph::Graph joint = test::corpus_graph(model);
    ForwardBackward pair = extract(joint, partition(joint, {}));
    if (pair.backward.find("rng_state_output_0") != graph::kNoNode) continue;  // has another name in the forward
    OffloadOptions options = beside_computation(facts_of(pair).saved);
    options.sink_wait = random() % 2 == 0;
    options.prefetch = random() % 2 == 0;
    options.legacy_streams = random() % 3 == 0;
    options.milliseconds = [](const graph::Graph&, NodeId) { return 1e-6; };
    // The corpus is of the CPU: let it be of a device.
    for (graph::Graph* graph : {&pair.forward, &pair.backward})
      for (const NodeId id : graph->order())
        if (const graph::TensorMeta* tensor = (*graph)[id].tensor()) {
          graph::TensorMeta moved = *tensor;
          moved.device = *graph::Device::parse("cuda:0");
          graph->set_val(id, graph::Value(moved));
        }
    const size_t outputs = pair.forward.output_values().size();
    const OffloadReport report = offload(pair, options);
    EXPECT_EQ(report.tensors.size() + report.refused.size(), options.names.size()) << model;
    EXPECT_EQ(pair.forward.output_values().size(), outputs) << model;
    for (const OffloadedTensor& tensor : report.tensors)
      EXPECT_NE(pair.backward.find(tensor.reloaded), graph::kNoNode) << model << " " << tensor.name;
  }
}

}  // namespace
}  // namespace sapwood::partition
