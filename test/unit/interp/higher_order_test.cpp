#include "interp/higher_order.h"

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include "base/error.h"
#include "interp/interpreter.h"

namespace sapwood::interp {
namespace {

using c10::IValue;
using graph::Argument;
using graph::Graph;
using graph::NodeId;
using Values = std::vector<IValue>;

Argument arg(NodeId id) { return Argument::node(id); }
Argument op(const char* name) { return Argument(graph::OperatorArg{name}); }
NodeId item(Graph& g, NodeId tuple, int64_t index) {
  return g.call("operator.getitem", {arg(tuple), index}, std::nullopt);
}
/// Random numbers as large as `x`.
graph::ArgumentList rand_like(NodeId x) { return {op("aten.rand_like.default"), arg(x)}; }

std::string message(const Graph& g, const Values& inputs, const RunOptions& options = {}) {
  try {
    run(g, inputs, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_names(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " isn't in: " << text;
}

TEST(HigherOrder, TheStateSavedIsTheOneBeforeTheCall) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId saved = g.call("higher_order.run_and_save_rng_state", rand_like(x), std::nullopt);
  g.output({item(g, saved, 0), item(g, saved, 1)});
  at::manual_seed(3);
  const at::Tensor before = at::detail::getDefaultCPUGenerator().get_state();
  const Values out = run(g, Values{at::zeros({5})});
  EXPECT_TRUE(at::equal(out[0].toTensor(), before));
  at::manual_seed(3);
  EXPECT_TRUE(at::equal(out[1].toTensor(), at::rand({5})));
}

TEST(HigherOrder, AReplayDrawsAgainAndLeavesTheGeneratorAlone) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId saved = g.call("higher_order.run_and_save_rng_state", rand_like(x), std::nullopt);
  const NodeId next = g.call("aten.rand_like.default", {arg(x)}, std::nullopt);
  graph::ArgumentList args = rand_like(x);
  args.insert(args.begin(), arg(item(g, saved, 0)));
  const NodeId replay = g.call("higher_order.run_with_rng_state", args, std::nullopt);
  const NodeId last = g.call("aten.rand_like.default", {arg(x)}, std::nullopt);
  g.output({item(g, saved, 1), next, replay, last});
  at::manual_seed(3);
  const Values out = run(g, Values{at::zeros({5})});
  EXPECT_TRUE(at::equal(out[0].toTensor(), out[2].toTensor()));
  at::manual_seed(3);
  at::rand({5});
  EXPECT_TRUE(at::equal(out[1].toTensor(), at::rand({5})));
  EXPECT_TRUE(at::equal(out[3].toTensor(), at::rand({5}))) << "the replay moved the generator";
}

TEST(HigherOrder, SeveralResultsComeAsATupleBehindTheState) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId saved = g.call("higher_order.run_and_save_rng_state",
                              {op("aten.native_dropout.default"), arg(x), 0.5, true}, std::nullopt);
  g.output({item(g, item(g, saved, 1), 1)});
  EXPECT_EQ(run(g, Values{at::ones({64})})[0].toTensor().scalar_type(), c10::kBool);
}

TEST(HigherOrder, GeneratorsThatStartEqualDrawTheSameAndAdvance) {
  Graph g;
  const graph::Value generator(graph::OpaqueValue{"Generator(device=cuda:0)"});
  const NodeId x = g.placeholder("x", graph::Value(graph::TensorMeta{.shape = {5}}));
  const NodeId forward = g.placeholder("fwd_rng_state_0", generator);
  const NodeId backward = g.placeholder("bwd_rng_state_0", generator);
  std::vector<NodeId> drawn;
  for (const NodeId from : {forward, forward, backward, backward}) {
    drawn.push_back(g.call("higher_order.graphsafe_run_with_rng_state", rand_like(x), std::nullopt));
    g.set_kwargs(drawn.back(), {{"rng_state", arg(from)}});
  }
  g.output(drawn);
  const Values inputs = make_random_inputs(g, 7);
  at::manual_seed(1);
  const Values out = run(g, inputs);
  EXPECT_TRUE(at::equal(out[0].toTensor(), out[2].toTensor()));
  EXPECT_TRUE(at::equal(out[1].toTensor(), out[3].toTensor()));
  EXPECT_FALSE(at::equal(out[0].toTensor(), out[1].toTensor()));
  const at::Tensor next = at::rand({5});
  at::manual_seed(1);
  EXPECT_TRUE(at::equal(next, at::rand({5}))) << "the default generator moved";
}

TEST(HigherOrder, EffectsPassTheirResultsBehindTheToken) {
  Graph g;
  const NodeId token = g.placeholder("token", std::nullopt);
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId effects =
      g.call("higher_order.with_effects", {arg(token), op("aten.topk.default"), arg(x), 1}, std::nullopt);
  g.output({item(g, effects, 0), item(g, effects, 1), item(g, effects, 2)});
  const at::Tensor in = at::rand({2, 4});
  const Values out = run(g, Values{at::empty({0}), in});
  EXPECT_EQ(out[0].toTensor().numel(), 0);
  EXPECT_TRUE(at::equal(out[2].toTensor(), std::get<1>(in.topk(1))));
}

TEST(HigherOrder, FunctionalizedMutationWritesACopy) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId y = g.placeholder("y", std::nullopt);
  const NodeId call = g.call("higher_order.auto_functionalized", {op("aten.add_.Tensor")}, std::nullopt);
  g.set_kwargs(call, {{"self", arg(x)}, {"other", arg(y)}});
  g.output({item(g, call, 1)});
  const at::Tensor a = at::rand({3}), b = at::rand({3}), before = a.clone();
  EXPECT_TRUE(at::equal(run(g, Values{a, b})[0].toTensor(), before + b));
  EXPECT_TRUE(at::equal(a, before));
}

TEST(HigherOrder, FunctionalizedMutationOfViewsReturnsTheBases) {
  Graph g;
  const NodeId base = g.placeholder("base", std::nullopt);
  const NodeId y = g.placeholder("y", std::nullopt);
  const NodeId call = g.call("higher_order.auto_functionalized_v2", {op("aten.add_.Tensor")}, std::nullopt);
  g.set_kwargs(call, {{"other", arg(y)},
                      {"_self_base_index", 0},
                      {"_self_slice_dim", 0},
                      {"_self_slice_start", 1},
                      {"_self_slice_end", 3},
                      {"_all_bases", Argument::list({arg(base)})}});
  g.output({item(g, call, 0), item(g, call, 1)});
  const at::Tensor a = at::rand({4}), b = at::rand({2}), before = a.clone();
  const Values out = run(g, Values{a, b});
  at::Tensor expected = before.clone();
  expected.slice(0, 1, 3).add_(b);
  EXPECT_TRUE(at::equal(out[0].toTensor(), expected.slice(0, 1, 3)));
  EXPECT_TRUE(at::equal(out[1].toTensor(), expected));
  EXPECT_TRUE(at::equal(a, before));
}

TEST(HigherOrder, SubgraphsRunWithTheOuterSymbols) {
  Graph g;
  g.symbols["s0"].hint = 3;
  auto body = std::make_shared<Graph>();
  const NodeId a = body->placeholder("a", std::nullopt);
  body->output(
      {body->call("aten.view.default", {arg(a), Argument::list({graph::SymExpr::symbol("s0") * 2})}, std::nullopt),
       graph::kNoNode});
  g.subgraphs["body_0"] = body;
  const NodeId x = g.placeholder("x", graph::Value(graph::TensorMeta{.shape = {graph::SymExpr::symbol("s0"), 2}}));
  const NodeId attribute = g.get_attr("body_0", "body_0");
  const NodeId call = g.call("higher_order.invoke_subgraph", {arg(attribute), "body_0", arg(x)}, std::nullopt);
  g.output({item(g, call, 0), item(g, call, 1)});
  const Values out = run(g, Values{at::rand({5, 2})});
  EXPECT_EQ(out[0].toTensor().numel(), 10);
  EXPECT_TRUE(out[1].isNone());
}

TEST(HigherOrder, ErrorsNameNodeAndOperator) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  g.output({g.call("higher_order.run_with_rng_state", {arg(x), arg(x)}, std::nullopt, "replay_3")});
  expect_names(message(g, Values{at::rand({2})}),
               {"replay_3", "higher_order.run_with_rng_state", "needs an operator as argument 1"});
  Graph wrong;
  const NodeId y = wrong.placeholder("y", std::nullopt);
  wrong.output({wrong.call("higher_order.run_and_save_rng_state", {op("aten.rand_like.default"), arg(y), "x"},
                           std::nullopt, "draw")});
  expect_names(message(wrong, Values{at::rand({2})}), {"draw", "aten.rand_like.default", "'dtype' can't become"});
  Graph lacking;
  const NodeId z = lacking.placeholder("z", std::nullopt);
  lacking.output({lacking.call("higher_order.graphsafe_run_with_rng_state", rand_like(z), std::nullopt, "safe")});
  expect_names(message(lacking, Values{at::rand({2})}), {"safe", "lacks its keyword argument rng_state"});
}

TEST(SingleRank, CollectivesCopyAndOtherGroupsAreRefused) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  const NodeId sum = g.call("_c10d_functional.all_reduce.default", {arg(x), "sum", "0"}, std::nullopt);
  const NodeId all = g.call("_c10d_functional.all_gather_into_tensor.default", {arg(sum), 1, "0"}, std::nullopt);
  const NodeId part = g.call("_c10d_functional.reduce_scatter_tensor.default", {arg(all), "sum", 1, "0"}, std::nullopt);
  g.output({g.call("_c10d_functional.wait_tensor.default", {arg(part)}, std::nullopt)});
  const at::Tensor in = at::rand({4});
  const RunOptions alone{.observer = {}, .device = nullptr, .single_rank = true};
  const at::Tensor out = run(g, Values{in}, alone)[0].toTensor();
  EXPECT_TRUE(at::equal(out, in));
  EXPECT_NE(out.data_ptr(), in.data_ptr());
  g.set_args(all, {arg(sum), 2, "0"});
  expect_names(message(g, Values{in}, alone), {g[all].name, "all_gather_into_tensor", "group of 2 ranks"});
}

TEST(HostOps, ItemsOfDicts) {
  Graph g;
  const NodeId x = g.placeholder("x", std::nullopt);
  g.output({g.call("operator.getitem", {arg(x), "b"}, std::nullopt)});
  c10::impl::GenericDict dict(c10::StringType::get(), c10::TensorType::get());
  dict.insert("b", at::ones({2}));
  EXPECT_EQ(run(g, Values{dict})[0].toTensor().numel(), 2);
  c10::impl::GenericDict other(c10::StringType::get(), c10::TensorType::get());
  expect_names(message(g, Values{other}), {"getitem", "'b'"});
}

}  // namespace
}  // namespace sapwood::interp
