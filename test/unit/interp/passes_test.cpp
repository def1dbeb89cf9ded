// Passes over whole models: what the graph computes stays the same to the bit.

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "capture/value_hash.h"
#include "graph/verify.h"
#include "interp/interpreter.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"
#include "unit/interp/corpus_models.h"

namespace sapwood::interp {
namespace {

/// Hashes of the outputs for the inputs of one seed.
std::vector<uint64_t> outputs_of(const graph::Graph& graph, const std::vector<c10::IValue>& inputs) {
  std::vector<c10::IValue> copies;
  for (const c10::IValue& input : inputs)
    copies.push_back(input.isTensor() ? c10::IValue(input.toTensor().clone()) : input);
  at::manual_seed(5);
  std::vector<uint64_t> hashes;
  for (const c10::IValue& value : run(graph, copies))
    hashes.push_back(value.isTensor() && value.toTensor().defined() ? capture::value_hash(value.toTensor()) : 0);
  return hashes;
}

/// One thread: with more, some of ATen's kernels don't repeat themselves to the bit.
class CorpusPasses : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { at::set_num_threads(1); }
  void TearDown() override { at::set_num_threads(threads_); }
  int threads_ = at::get_num_threads();
};

TEST_P(CorpusPasses, KeepEveryOutput) {
  graph::Graph graph = load_model(GetParam());
  const std::vector<c10::IValue> inputs = make_random_inputs(graph, 3);
  const std::vector<uint64_t> expected = outputs_of(graph, inputs);
  passes::remove_dead_nodes(graph);
  EXPECT_EQ(outputs_of(graph, inputs), expected) << "dead code";
  passes::merge_common_subexpressions(graph);
  EXPECT_TRUE(graph::verify(graph).empty());
  EXPECT_EQ(outputs_of(graph, inputs), expected) << "common subexpressions";
}

INSTANTIATE_TEST_SUITE_P(Models, CorpusPasses, testing::ValuesIn(runnable_models()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace sapwood::interp
