#include "interp/interpreter.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "corpus_models.h"

namespace sapwood::interp {
namespace {

using graph::Argument;
using graph::Graph;
using graph::NodeId;

graph::Value meta(const std::vector<int64_t>& sizes, graph::DType dtype = graph::DType::kFloat32) {
  graph::TensorMeta tensor;
  tensor.dtype = dtype;
  for (const int64_t size : sizes) tensor.shape.emplace_back(size);
  return tensor;
}

std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Interpreter, RunsOperatorsWithDefaultsAndKeywords) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({2, 3}));
  const NodeId sum = g.call("aten.sum.dim_IntList", {Argument::node(x), Argument::ints({1}), true}, meta({2, 1}));
  const NodeId add = g.call("aten.add.Tensor", {Argument::node(x), Argument::node(sum)}, meta({2, 3}));
  g.set_kwargs(add, {{"alpha", 0.5}});
  g.output({add, graph::kNoNode});
  const at::Tensor in = at::rand({2, 3});
  const std::vector<c10::IValue> out = run(g, std::vector<c10::IValue>{in});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_TRUE(at::equal(out[0].toTensor(), in.add(in.sum(1, true), 0.5)));
  EXPECT_TRUE(out[1].isNone());
}

TEST(Interpreter, NumbersBecomeWrappedTensorsWhereATensorIsExpected) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  g.output({g.call("aten.mul.Tensor", {Argument::node(x), 0.3}, meta({4}))});
  const at::Tensor in = at::rand({4});
  const at::Tensor out = run(g, std::vector<c10::IValue>{in})[0].toTensor();
  EXPECT_EQ(out.scalar_type(), c10::kFloat);
  EXPECT_TRUE(at::equal(out, in * 0.3));
}

TEST(Interpreter, TensorListsTuplesAndElements) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4, 2}));
  const NodeId parts = g.call("aten.split.Tensor", {Argument::node(x), 2}, std::nullopt);
  const NodeId last = g.call("operator.getitem", {Argument::node(parts), -1}, meta({2, 2}));
  const NodeId top = g.call("aten.topk.default", {Argument::node(x), 1}, std::nullopt);
  const NodeId indices = g.call("operator.getitem", {Argument::node(top), 1}, meta({4, 1}, graph::DType::kInt64));
  g.output(
      {g.call("aten.cat.default", {Argument::list({Argument::node(last), Argument::node(x)})}, meta({6, 2})), indices});
  const at::Tensor in = at::rand({4, 2});
  const std::vector<c10::IValue> out = run(g, std::vector<c10::IValue>{in});
  EXPECT_TRUE(at::equal(out[0].toTensor(), at::cat({in.slice(0, 2), in})));
  EXPECT_TRUE(at::equal(out[1].toTensor(), std::get<1>(in.topk(1))));
}

TEST(Interpreter, ScalarsArePassedAtRunTime) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  const NodeId rate = g.placeholder("rate", graph::Value(graph::SymFloatValue{"rate", 0.1}));
  const NodeId add = g.call("aten.add.Tensor", {Argument::node(x), Argument::node(x)}, meta({4}));
  g.set_kwargs(add, {{"alpha", Argument::node(rate)}});
  g.output({add, g.call("aten.mul.Tensor", {Argument::node(x), Argument::node(rate)}, meta({4}))});
  const at::Tensor in = at::rand({4});
  const std::vector<c10::IValue> out = run(g, std::vector<c10::IValue>{in, 0.25});
  EXPECT_TRUE(at::equal(out[0].toTensor(), in.add(in, 0.25)));
  EXPECT_TRUE(at::equal(out[1].toTensor(), in * 0.25));
}

TEST(Interpreter, SymbolsTakeTheInputsSizes) {
  Graph g;
  g.symbols["s0"].hint = 3;
  graph::TensorMeta tensor;
  tensor.shape = {graph::SymExpr::symbol("s0"), 2};
  const NodeId x = g.placeholder("x", graph::Value(tensor));
  g.output({g.call("aten.view.default", {Argument::node(x), Argument::list({graph::SymExpr::symbol("s0") * 2})},
                   std::nullopt)});
  EXPECT_EQ(run(g, std::vector<c10::IValue>{at::rand({5, 2})})[0].toTensor().numel(), 10);
}

TEST(Interpreter, NothingIsRecordedForAutograd) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  g.output({g.call("aten.mul.Tensor", {Argument::node(x), Argument::node(x)}, meta({4}))});
  at::Tensor in = at::rand({4}).requires_grad_();
  EXPECT_FALSE(run(g, std::vector<c10::IValue>{in})[0].toTensor().requires_grad());
}

TEST(Interpreter, PoolingOffsetsBecomeIndicesAgain) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({2, 3, 9, 8}));
  const auto ints = [](int64_t a, int64_t b) { return Argument::ints({a, b}); };
  const NodeId pool = g.call("prims._low_memory_max_pool_with_offsets.default",
                             {Argument::node(x), ints(3, 3), ints(2, 2), ints(1, 1), ints(1, 1), false}, std::nullopt);
  const NodeId offsets = g.call("operator.getitem", {Argument::node(pool), 1}, std::nullopt);
  const NodeId indices =
      g.call("prims._low_memory_max_pool_offsets_to_indices.default",
             {Argument::node(offsets), ints(3, 3), ints(9, 8), ints(2, 2), ints(1, 1), ints(1, 1)}, std::nullopt);
  g.output({offsets, indices});
  const at::Tensor in = at::randn({2, 3, 9, 8});
  const std::vector<c10::IValue> out = run(g, std::vector<c10::IValue>{in});
  EXPECT_EQ(out[0].toTensor().scalar_type(), c10::kChar);
  EXPECT_LT(out[0].toTensor().max().item<int64_t>(), 9);
  EXPECT_TRUE(at::equal(out[1].toTensor(), std::get<1>(at::max_pool2d_with_indices(in, {3, 3}, {2, 2}, {1, 1}))));
}

TEST(Interpreter, UnknownOperatorsAreNamed) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  g.output({g.call("mylib.frobnicate.default", {Argument::node(x)}, meta({4}), "frob_3")});
  const std::string text = message([&] { run(g, std::vector<c10::IValue>{at::rand({4})}); });
  EXPECT_NE(text.find("frob_3"), std::string::npos);
  EXPECT_NE(text.find("no operator mylib.frobnicate.default is registered"), std::string::npos);
}

TEST(Interpreter, AFailingKernelNamesTheNode) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  const NodeId i = g.placeholder("i", meta({1}, graph::DType::kInt64));
  g.output({g.call("aten.index_select.default", {Argument::node(x), 0, Argument::node(i)}, meta({1}), "pick")});
  const std::string text =
      message([&] { run(g, std::vector<c10::IValue>{at::rand({4}), at::full({1}, 9, at::kLong)}); });
  EXPECT_NE(text.find("'pick' (aten.index_select.default)"), std::string::npos);
  EXPECT_NE(text.find("out of range"), std::string::npos) << text;
}

TEST(Interpreter, WrongArgumentsNameTheArgument) {
  Graph g;
  const NodeId x = g.placeholder("x", meta({4}));
  g.output({g.call("aten.sum.dim_IntList", {Argument::node(x), "rows"}, meta({}), "total")});
  const std::string text = message([&] { run(g, std::vector<c10::IValue>{at::rand({4})}); });
  EXPECT_NE(text.find("'total'"), std::string::npos);
  EXPECT_NE(text.find("'dim'"), std::string::npos) << text;
}

class CorpusRun : public testing::TestWithParam<std::string> {};

TEST_P(CorpusRun, RunsOnRandomInputsWithTheRecordedShapes) {
  const Graph graph = load_model(GetParam());
  at::manual_seed(1);
  const std::vector<c10::IValue> inputs = make_random_inputs(graph, 1);
  const SymbolValues symbols = bind_symbols(graph, inputs);
  int64_t seen = 0;
  const auto check = [&](const graph::Node& node, const c10::IValue& value) {
    if (node.tensor() == nullptr || !value.isTensor()) return;
    ++seen;
    EXPECT_EQ(value.toTensor().sizes(), at::IntArrayRef(symbols.evaluate(node.tensor()->shape, node.name)))
        << node.name;
    EXPECT_EQ(value.toTensor().scalar_type(), to_torch(node.tensor()->dtype)) << node.name;
  };
  const std::vector<c10::IValue> outputs = run(graph, inputs, check);
  EXPECT_EQ(outputs.size(), graph.output_values().size());
  EXPECT_GT(seen, static_cast<int64_t>(graph.size()) / 2);
  const at::Tensor first = outputs.front().toTensor();
  EXPECT_TRUE(first.isfinite().all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Models, CorpusRun, testing::ValuesIn(runnable_models()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::interp
