#pragma once

#include "unit/partition/step_builder.h"

namespace sapwood::test {

/// sin over an input of 10 x `left` numbers and cos over one of 10 x `right`, added up; with a collective or without.
/// What ranks may save differently: the sine, the cosine, or both.
inline graph::Graph rank_branches(int64_t left, int64_t right, bool collective = true) {
  StepBuilder b;
  graph::Graph& g = b.step.graph;
  const graph::NodeId x = g.placeholder("primals_1", graph::Value(b.tensor({10, left})));
  const graph::NodeId y = g.placeholder("primals_2", graph::Value(b.tensor({10, right})));
  const graph::NodeId tangent = g.placeholder("tangents_1", graph::Value(b.tensor({10})));
  const graph::NodeId sin = g.call("aten.sin.default", {arg(x)}, b.tensor({10, left}));
  const graph::NodeId cos = g.call("aten.cos.default", {arg(y)}, b.tensor({10, right}));
  const auto sum = [&](graph::NodeId of) {
    return g.call("aten.sum.dim_IntList", {arg(of), graph::Argument::ints({1})}, b.tensor({10}));
  };
  const graph::NodeId sums[2] = {sum(sin), sum(cos)};
  graph::NodeId out = g.call("aten.add.Tensor", {arg(sums[0]), arg(sums[1])}, b.tensor({10}));
  if (collective) {
    out = g.call("_c10d_functional.all_reduce.default", {arg(out), "sum", "0"}, b.tensor({10}));
    out = g.call("_c10d_functional.wait_tensor.default", {arg(out)}, b.tensor({10}));
  }
  g.output({out, g.call("aten.mul.Tensor", {arg(tangent), arg(out)}, b.tensor({10}))});
  g.num_forward_outputs = 1;
  return g;
}

}  // namespace sapwood::test
