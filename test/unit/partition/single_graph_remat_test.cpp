#include "partition/single_graph_remat.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/error.h"
#include "unit/partition/pair_text.h"

namespace sapwood::partition {
namespace {

using graph::CheckpointPolicy;
using graph::Graph;
using graph::NodeId;
using test::Lines;

/// Marks at the end of a line: `r1` recompute in region 1, `s1` save in region 1, `b` backward, `p` annotated by the
/// user.
std::string with_facts(const std::string& body) {
  const std::map<std::string, std::string> facts{{"r1", "recompute=PREFER_RECOMPUTE ac_graph_id=1"},
                                                 {"R1", "recompute=MUST_RECOMPUTE ac_graph_id=1"},
                                                 {"r2", "recompute=PREFER_RECOMPUTE ac_graph_id=2"},
                                                 {"s1", "recompute=MUST_SAVE ac_graph_id=1"},
                                                 {"b", "autograd_backward"},
                                                 {"p", "autograd_backward custom={\"phase\": \"backward\"}"}};
  std::string out;
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = body.find('\n', begin);
    std::string line = body.substr(begin, end - begin);
    const size_t mark = line.find(" # ");
    if (mark != std::string::npos) line = line.substr(0, mark) + "  # " + facts.at(line.substr(mark + 3));
    const size_t equals = line.find(" = ");
    if (equals != std::string::npos && line.find(" : ") == std::string::npos) line.insert(equals, " : float32[4, 4]");
    out += "  " + line + "\n";
    begin = end + 1;
  }
  return out;
}

Graph graph_of(const std::string& body) {
  Graph graph = graph::parse_any("graph step {\n" + with_facts(body) + "}\n");
  test::expect_sound(graph);
  return graph;
}

SingleGraphRemat remat(Graph& graph) {
  SingleGraphRemat result = rematerialize_single_graph(graph);
  test::expect_sound(graph);
  return result;
}

std::string error_of(const std::string& body, ErrorKind kind) {
  Graph graph = graph_of(body);
  const Lines before = test::node_lines(graph);
  try {
    rematerialize_single_graph(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(test::node_lines(graph), before) << "an error leaves the graph as it was";
    return error.message();
  }
  return "no error";
}

/// loss = sum(checkpoint(sigmoid(x w))) with its gradients.
const std::string kBlock =
    "%x = placeholder\n%w = placeholder\n"
    "%mm = aten.mm.default(%x, %w) # r1\n"
    "%sigmoid = aten.sigmoid.default(%mm) # r1\n"
    "%sum_1 : float32[] = aten.sum.default(%sigmoid)\n"
    "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
    "%expand : float32[4, 4]{0, 0}<alias=%ones> = aten.expand.default(%ones, [4, 4]) # b\n"
    "%grad = aten.sigmoid_backward.default(%expand, %sigmoid) # b\n"
    "%t : float32[4, 4]{1, 4}<alias=%x> = aten.t.default(%x) # b\n"
    "%mm_1 = aten.mm.default(%t, %grad) # b\n"
    "%t_1 : float32[4, 4]{1, 4}<alias=%w> = aten.t.default(%w) # b\n"
    "%mm_2 = aten.mm.default(%grad, %t_1) # b\n"
    "return (%sum_1, %mm_1, %mm_2)\n";

TEST(SingleGraphRemat, BlockIsComputedAgainBeforeItsFirstGradient) {
  Graph graph = graph_of(kBlock);
  const SingleGraphRemat result = remat(graph);
  EXPECT_EQ(test::count_calls(graph, "aten.mm.default"), 4) << "3 without checkpointing";
  EXPECT_EQ(test::count_calls(graph, "aten.sigmoid.default"), 2) << "1 without checkpointing";
  EXPECT_EQ(result.recomputed, (Lines{"mm_recomputed", "sigmoid_recomputed"}));
  EXPECT_TRUE(result.dropped.empty());
  // The order is PyTorch's.
  EXPECT_EQ(test::node_names(graph), (Lines{"x", "w", "mm", "sigmoid", "sum_1", "ones", "expand", "mm_recomputed",
                                            "sigmoid_recomputed", "grad", "t", "mm_1", "t_1", "mm_2", "output"}));
  const auto read = [&](const char* name, size_t at) { return graph[graph.inputs(graph.find(name))[at]].name; };
  EXPECT_EQ(read("sigmoid_recomputed", 0), "mm_recomputed");
  EXPECT_EQ(read("mm_recomputed", 0), "x");
  EXPECT_EQ(read("grad", 1), "sigmoid_recomputed");
  EXPECT_EQ(read("sum_1", 0), "sigmoid");
  EXPECT_TRUE(graph[graph.find("mm_recomputed")].meta->autograd_backward);
  EXPECT_NE(graph[graph.find("mm_recomputed")].tensor()->storage, graph[graph.find("mm")].tensor()->storage);
}

TEST(SingleGraphRemat, RunningItAgainChangesNothing) {
  Graph graph = graph_of(kBlock);
  remat(graph);
  const std::string once = graph::print_text(graph);
  EXPECT_TRUE(remat(graph).recomputed.empty());
  EXPECT_EQ(graph::print_text(graph), once);
}

TEST(SingleGraphRemat, GraphWithoutMarksOrBackwardStaysAsItIs) {
  for (const char* mark : {" # r1", " # b"}) {
    std::string body = kBlock;
    for (size_t at = body.find(mark); at != std::string::npos; at = body.find(mark))
      body.erase(at, std::string(mark).size());
    Graph graph = graph_of(body);
    const std::string before = graph::print_text(graph);
    EXPECT_TRUE(remat(graph).recomputed.empty());
    EXPECT_EQ(graph::print_text(graph), before);
  }
}

TEST(SingleGraphRemat, ValueThatOnlyTheBackwardReadsMovesThere) {
  Graph graph = graph_of(
      "%x = placeholder\n"
      "%sin = aten.sin.default(%x) # r1\n%cos = aten.cos.default(%x) # R1\n"
      "%sum_1 : float32[] = aten.sum.default(%sin)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%mul = aten.mul.Tensor(%ones, %cos) # b\nreturn (%sum_1, %mul)\n");
  const SingleGraphRemat result = remat(graph);
  EXPECT_EQ(result.dropped, Lines{"cos"});
  EXPECT_EQ(test::node_names(graph), (Lines{"x", "sin", "sum_1", "ones", "cos_recomputed", "mul", "output"}));
}

TEST(SingleGraphRemat, RandomOperatorInTheRegionIsAnError) {
  const std::string message = error_of(
      "%x = placeholder\n"
      "%rand = aten.rand_like.default(%x) # r1\n%mul = aten.mul.Tensor(%x, %rand) # r1\n"
      "%sum_1 : float32[] = aten.sum.default(%mul)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%mul_1 = aten.mul.Tensor(%ones, %rand) # b\nreturn (%sum_1, %mul_1)\n",
      ErrorKind::kUnsupported);
  EXPECT_NE(message.find("'rand' (aten.rand_like.default) draws random numbers"), std::string::npos) << message;
}

TEST(SingleGraphRemat, RandomOperatorOutsideOfTheRegionIsNone) {
  Graph graph = graph_of(
      "%x = placeholder\n%rand = aten.rand_like.default(%x)\n"
      "%sin = aten.sin.default(%x) # r1\n%mul = aten.mul.Tensor(%sin, %rand)\n"
      "%sum_1 : float32[] = aten.sum.default(%mul)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%mul_1 = aten.mul.Tensor(%ones, %rand) # b\n%mul_2 = aten.mul.Tensor(%mul_1, %sin) # b\n"
      "return (%sum_1, %mul_2)\n");
  EXPECT_EQ(remat(graph).recomputed, Lines{"sin_recomputed"});
  EXPECT_EQ(test::count_calls(graph, "aten.rand_like.default"), 1);
}

TEST(SingleGraphRemat, EffectsAreNotCopied) {
  const std::string message = error_of(
      "%x = placeholder\n"
      "%clone = aten.clone.default(%x) # r1\n%sin_ : float32[4, 4]<alias=%clone> = aten.sin_.default(%clone) # r1\n"
      "%sum_1 : float32[] = aten.sum.default(%sin_)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%mul = aten.mul.Tensor(%ones, %sin_) # b\nreturn (%sum_1, %mul)\n",
      ErrorKind::kUnsupported);
  EXPECT_NE(message.find("'sin_' (aten.sin_.default) is marked for recomputation, but has an effect"),
            std::string::npos)
      << message;
}

TEST(SingleGraphRemat, ProductKeptByPolicyStaysWhileReluGainsOne) {
  Graph graph = graph_of(
      "%x = placeholder\n%w = placeholder\n%bias : float32[4] = placeholder\n"
      "%addmm = aten.addmm.default(%bias, %x, %w) # s1\n%relu = aten.relu.default(%addmm) # r1\n"
      "%sum_1 : float32[] = aten.sum.default(%relu)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%expand : float32[4, 4]{0, 0}<alias=%ones> = aten.expand.default(%ones, [4, 4]) # b\n"
      "%le : bool[4, 4] = aten.le.Scalar(%relu, 0) # b\n"
      "%grad = aten.masked_fill.Scalar(%expand, %le, 0) # b\n"
      "%t : float32[4, 4]{1, 4}<alias=%x> = aten.t.default(%x) # b\n"
      "%mm = aten.mm.default(%t, %grad) # b\nreturn (%sum_1, %mm)\n");
  remat(graph);
  EXPECT_EQ(test::count_calls(graph, "aten.addmm.default"), 1);
  EXPECT_EQ(test::count_calls(graph, "aten.relu.default"), 2);
  EXPECT_EQ(graph[graph.inputs(graph.find("relu_recomputed")).front()].name, "addmm");
}

TEST(SingleGraphRemat, BoundaryBetweenRegionsIsSaved) {
  Graph graph = graph_of(
      "%x = placeholder\n"
      "%sin = aten.sin.default(%x) # r1\n%cos = aten.cos.default(%sin) # r1\n"
      "%exp = aten.exp.default(%cos) # r2\n%tanh = aten.tanh.default(%exp) # r2\n"
      "%sum_1 : float32[] = aten.sum.default(%tanh)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%tb = aten.tanh_backward.default(%ones, %tanh) # b\n%mul = aten.mul.Tensor(%tb, %exp) # b\n"
      "%sin_1 = aten.sin.default(%sin) # b\n%mul_1 = aten.mul.Tensor(%mul, %sin_1) # b\n"
      "return (%sum_1, %mul_1)\n");
  // The result of the first region is what the second starts from again.
  EXPECT_EQ(remat(graph).recomputed, (Lines{"exp_recomputed", "tanh_recomputed", "sin_recomputed"}));
  EXPECT_EQ(graph[graph.find("cos")].meta->recompute, CheckpointPolicy::kMustSave);
  EXPECT_EQ(graph[graph.inputs(graph.find("exp_recomputed")).front()].name, "cos");
}

TEST(SingleGraphRemat, ViewsOfARecomputedValueLookAtItsCopy) {
  Graph graph = graph_of(
      "%x = placeholder\n%w = placeholder\n"
      "%sin = aten.sin.default(%x) # r1\n"
      "%t : float32[4, 4]{1, 4}<alias=%sin> = aten.t.default(%sin) # r1\n"
      "%permute : float32[4, 4]<alias=%sin> = aten.permute.default(%t, [1, 0]) # r1\n"
      "%mm = aten.mm.default(%permute, %w) # r1\n"
      "%sum_1 : float32[] = aten.sum.default(%mm)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%expand : float32[4, 4]{0, 0}<alias=%ones> = aten.expand.default(%ones, [4, 4]) # b\n"
      "%mm_1 = aten.mm.default(%t, %expand) # b\n%mm_2 = aten.mm.default(%permute, %expand) # b\n"
      "return (%sum_1, %mm_1, %mm_2)\n");
  remat(graph);
  const auto storage = [&](const char* name) { return *graph[graph.find(name)].tensor()->storage; };
  EXPECT_EQ(storage("t_recomputed"), storage("sin_recomputed"));
  EXPECT_EQ(storage("permute_recomputed"), storage("sin_recomputed"));
  EXPECT_NE(storage("sin_recomputed"), storage("sin"));
  EXPECT_EQ(storage("t"), storage("sin"));
}

const std::string kTwoRegions =
    "%x = placeholder\n"
    "%sin = aten.sin.default(%x) # r1\n%cos = aten.cos.default(%x) # r1\n"
    "%mul = aten.mul.Tensor(%x, %sin) # b\n"
    "%between = aten.exp.default(%x)\n"
    "%mul_1 = aten.mul.Tensor(%x, %cos) # b\nreturn (%sin, %cos, %mul, %between, %mul_1)\n";

TEST(SingleGraphRemat, TwoRegionsThatNeedItAreAnError) {
  const std::string message = error_of(kTwoRegions, ErrorKind::kUnsupported);
  EXPECT_NE(message.find("2 backward regions need recomputation, of which the second starts at 'mul_1'"),
            std::string::npos)
      << message;
}

TEST(SingleGraphRemat, TwoAnnotatedRegionsAreAnError) {
  std::string body = kTwoRegions;
  for (size_t at = body.find("# b"); at != std::string::npos; at = body.find("# b")) body[at + 2] = 'p';
  const std::string message = error_of(body, ErrorKind::kUser);
  EXPECT_NE(message.find("annotated with the phase backward are 2 regions, of which the second starts at 'mul_1'"),
            std::string::npos)
      << message;
}

TEST(SingleGraphRemat, OnlyTheAnnotatedRegionRecomputes) {
  std::string body = kTwoRegions;
  body[body.rfind("# b") + 2] = 'p';
  Graph graph = graph_of(body);
  EXPECT_EQ(remat(graph).recomputed, Lines{"cos_recomputed"});
  EXPECT_EQ(graph[graph.inputs(graph.find("mul")).back()].name, "sin");
  EXPECT_EQ(graph[graph.inputs(graph.find("mul_1")).back()].name, "cos_recomputed");
  // The copy belongs to the annotated region, so that this stays one.
  EXPECT_TRUE(remat(graph).recomputed.empty());
}

TEST(SingleGraphRemat, ChunkedLossRecomputesInTheRegionThatNeedsIt) {
  // Each chunk of the loss has its own small backward; only the model's backward reads checkpointed values.
  Graph graph = graph_of(
      "%x = placeholder\n%w = placeholder\n"
      "%mm = aten.mm.default(%x, %w) # r1\n%gelu = aten.gelu.default(%mm) # r1\n%out = aten.mm.default(%gelu, %w)\n"
      "%loss_1 : float32[] = aten.sum.default(%out)\n"
      "%g_1 : float32[] = aten.ones_like.default(%loss_1) # b\n"
      "%loss_2 : float32[] = aten.mean.default(%out)\n"
      "%g_2 : float32[] = aten.ones_like.default(%loss_2) # b\n"
      "%total : float32[] = aten.add.Tensor(%g_1, %g_2)\n"
      "%expand : float32[4, 4]{0, 0}<alias=%total> = aten.expand.default(%total, [4, 4]) # b\n"
      "%gb = aten.gelu_backward.default(%expand, %mm) # b\n%mul = aten.mul.Tensor(%gb, %gelu) # b\n"
      "return (%loss_1, %loss_2, %mul)\n");
  remat(graph);
  EXPECT_EQ(test::count_calls(graph, "aten.gelu.default"), 2) << "1 without checkpointing";
  EXPECT_EQ(test::count_calls(graph, "aten.mm.default"), 3);
}

TEST(SingleGraphRemat, NodesBehindTheRegionReadTheFirstValues) {
  std::string body = kBlock;
  body.replace(body.find("return"), std::string::npos,
               "%after = aten.exp.default(%sigmoid)\nreturn (%mm_1, %mm_2, %after)\n");
  Graph graph = graph_of(body);
  remat(graph);
  EXPECT_EQ(graph[graph.inputs(graph.find("after")).front()].name, "sigmoid");
}

TEST(SingleGraphRemat, ResultsComeDirectlyBehindTheirOperator) {
  Graph graph = graph_of(
      "%x = placeholder\n"
      "%topk : (float32[4, 2], int64[4, 2]) = aten.topk.default(%x, 2) # r1\n"
      "%values : float32[4, 2] = operator.getitem(%topk, 0) # r1\n"
      "%sin : float32[4, 2] = aten.sin.default(%values)\n"
      "%indices : int64[4, 2] = operator.getitem(%topk, 1) # r1\n"
      "%ones : float32[4, 2] = aten.ones_like.default(%sin) # b\n"
      "%gather : float32[4, 2] = aten.gather.default(%x, 1, %indices) # b\n"
      "%mul : float32[4, 2] = aten.mul.Tensor(%gather, %values) # b\n"
      "%mul_1 : float32[4, 2] = aten.mul.Tensor(%ones, %mul) # b\nreturn (%sin, %mul_1)\n");
  const SingleGraphRemat result = remat(graph);
  EXPECT_EQ(result.dropped, Lines{"indices"});
  const Lines names = test::node_names(graph);
  EXPECT_EQ(names, (Lines{"x", "topk", "values", "sin", "ones", "topk_recomputed", "indices_recomputed",
                          "values_recomputed", "gather", "mul", "mul_1", "output"}));
}

TEST(SingleGraphRemat, DeadFunctionalCollectivesAreDropped) {
  Graph graph = graph_of(
      "%x = placeholder\n"
      "%all = _c10d_functional.all_reduce.default(%x, \"sum\", \"0\") # r1\n"
      "%wait = _c10d_functional.wait_tensor.default(%all) # r1\n"
      "%sum_1 : float32[] = aten.sum.default(%x)\n"
      "%ones : float32[] = aten.ones_like.default(%sum_1) # b\n"
      "%mul = aten.mul.Tensor(%ones, %wait) # b\nreturn (%sum_1, %mul)\n");
  const SingleGraphRemat result = remat(graph);
  EXPECT_EQ(result.recomputed, (Lines{"all_recomputed", "wait_recomputed"}));
  EXPECT_EQ(result.dropped, (Lines{"all", "wait"}));
}

/// A chain of blocks, every other one checkpointed, and the gradients in reverse.
Graph random_chain(std::mt19937& random, int blocks) {
  std::string body = "%x = placeholder\n";
  std::string last = "x";
  Lines values;
  int64_t region = 0;
  for (int i = 0; i < blocks; ++i) {
    const std::string name = "f" + std::to_string(i);
    const std::string second = values.empty() ? last : values[random() % values.size()];
    if (random() % 3 == 0) ++region;
    const std::string mark = random() % 4 == 0 ? "" : region % 2 == 0 ? " # r1" : " # r2";
    body += "%" + name + " = aten.mul.Tensor(%" + last + ", %" + second + ")" + mark + "\n";
    values.push_back(last = name);
  }
  body += "%loss = aten.sin.default(%" + last + ")\n%g = aten.ones_like.default(%loss) # b\n";
  std::string grad = "g";
  for (int i = blocks; i-- > 0;) {
    const std::string name = "b" + std::to_string(i);
    body += "%" + name + " = aten.mul.Tensor(%" + grad + ", %" + values[static_cast<size_t>(i)] + ") # b\n";
    grad = name;
  }
  return graph_of(body + "return (%loss, %" + grad + ")\n");
}

/// What a value is made of, by names without the copies' ending, so that a graph and its rewritten form agree.
std::string made_of(const Graph& graph, NodeId id, std::map<NodeId, std::string>& known) {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  std::string name = graph[id].name;
  if (const size_t at = name.find("_recomputed"); at != std::string::npos) name.erase(at);
  std::string text = name + "(";
  for (const graph::Argument& argument : graph[id].args)
    if (const auto* read = argument.as<graph::NodeArg>())
      text += std::to_string(std::hash<std::string>()(made_of(graph, read->id, known))) + ",";
  return known.emplace(id, text + ")").first->second;
}

TEST(SingleGraphRemat, RandomChainsComputeTheSameAndReadNothingMarkedAcross) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Graph graph = random_chain(random, 3 + static_cast<int>(random() % 30));
    const Graph before = graph;
    remat(graph);
    std::map<NodeId, std::string> old_values, new_values;
    const auto outputs = before.output_values();
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(made_of(graph, graph.output_values()[i], new_values), made_of(before, outputs[i], old_values));
    for (const NodeId id : graph.order())
      for (const NodeId read : graph.inputs(id)) {
        const bool marked = graph[read].meta->recompute == CheckpointPolicy::kPreferRecompute;
        EXPECT_FALSE(graph[id].meta->autograd_backward && marked && !graph[read].meta->autograd_backward)
            << graph[id].name << " reads " << graph[read].name;
      }
  }
}

}  // namespace
}  // namespace sapwood::partition
