#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"

namespace sapwood::test {

/// What random joint graphs are made of.
struct RandomJointOptions {
  int min_operators = 1;  ///< of the forward; some of them are a few nodes
  int max_operators = 12;
  int max_inputs = 3;

  // How often a kind of forward operator is drawn, relative to the others; 0 switches it off.
  double pointwise = 4;
  double matmul = 2;         ///< mm and addmm with a parameter or with another value
  double reduction = 1;      ///< sums and means over the last dimension
  double view = 2;           ///< t, permute, view, expand, slice, unsqueeze
  double concatenate = 1;    ///< cat
  double split = 1;          ///< with getitems
  double normalization = 1;  ///< var_mean with two results, and what a layer norm does with them
  double dropout = 1;        ///< native_dropout, or rand_like, comparison and product
  double index = 1;          ///< embedding, index
  double collective = 0.3;   ///< all_reduce and wait_tensor
  double conversion = 0.5;   ///< to bfloat16, float64 and float32
  double effect = 0.1;       ///< with_effects, one token through all of them; never in a graph with checkpoint marks

  // Probabilities.
  double symbolic = 0.25;         ///< the number of rows is a symbol that is an input
  double checkpoint = 0.25;       ///< some operators are in regions that are marked for recomputation
  double mutation = 0.25;         ///< inputs are overwritten at the end of the forward, the backward, or both
  double returned_value = 0.1;    ///< a gradient is an input or a forward value as it is
  double missing_gradient = 0.1;  ///< per parameter: its gradient is None
  double static_input = 0.7;      ///< per parameter: its storage outlives the step
  double fan_out = 0.3;           ///< per operand: any earlier value, not one of the last
  double second_output = 0.4;     ///< the forward returns a second value (a third, ... with the same probability)
  double dead_code = 0.1;         ///< nodes that nothing reads stay; PyTorch removes them, random ones as well
};

/// A joint graph as AOTAutograd makes them: a forward of ATen operators, tangents for what it returns, and the backward
/// that reverse-mode differentiation gives, tagged. Values carry right types, sizes and strides; without collectives
/// and effects libtorch can run it. Passes `graph::verify` and `ops::verify_all`. The same on every machine for equal
/// arguments.
graph::Graph random_joint_graph(const RandomJointOptions& options, uint32_t seed);

/// Makes a graph smaller for as long as `fails` says that the smaller one still shows the defect: outputs become None,
/// go or are replaced by what they were made from, nodes are replaced by what they read or by new inputs, what nothing
/// reads is removed. Returns a sound graph for which `fails` is true, such that no single such step leads to another.
/// Pre: `fails(graph)`. Calls `fails` with sound graphs only, O(nodes^2) times at most; what it throws passes through.
graph::Graph shrink(graph::Graph graph, const std::function<bool(const graph::Graph&)>& fails);

}  // namespace sapwood::test
