#pragma once

#include "graph/joint_graph.h"
#include "partition/plan.h"

namespace sapwood::partition {

struct Decision;  // budget.h

/// Decides what the backward of a joint graph gets from its forward. The graph has tangent placeholders (targets that
/// contain "tangents") as AOTAutograd makes them. For the minimum cut the graph is changed first: dead nodes go and,
/// with `options.cse`, common subexpressions are merged. `decision`, if given, gets what led to the plan: the cuts that
/// were solved and the knapsack.
///
/// With Compatibility::kTorch213 the decisions are those of PyTorch 2.13, node for node. docs/partitioner.md lists what
/// the other mode repairs; above all, nothing random is drawn twice unless a checkpoint asks for it (and then from its
/// saved state).
///
/// Errors: user error for options or annotations that can't hold; unsupported error if a cut would be infinite, naming
/// the nodes on the path and the rules that conflict.
Plan partition(graph::Graph& joint, const PartitionOptions& options, Decision* decision = nullptr);

/// What `partition` does to a graph before it decides: for the minimum cut dead nodes go and, with `options.cse`,
/// common subexpressions are merged.
void prepare_joint(graph::Graph& joint, const PartitionOptions& options);

struct ForwardBackward {
  graph::Graph forward;   ///< outputs: the user's, saved tensors, saved symbols
  graph::Graph backward;  ///< placeholders: saved symbols, saved tensors, tangents
  QuantizationReport quantized = {};
  OffloadReport offloaded = {};
};

/// Splits a joint graph as the plan says.
ForwardBackward extract(const graph::Graph& joint, const Plan& plan);

/// The same decision for a whole training step (forward, backward and optimizer in one graph, no tangents: the backward
/// starts at the nodes tagged kBackward that read no other backward node, e.g. the `ones_like` of the loss). CSE isn't
/// run: the step's nodes are kept.
Plan partition_step(const graph::JointGraph& step, const PartitionOptions& options);

/// Puts recomputation into the step: every forward value that a backward or optimizer node reads and that the plan
/// doesn't save is computed again (a copy named `<name>_recompute`, tagged kBackward) directly before its first such
/// use. Random and effectful nodes are never copied.
graph::JointGraph schedule_step(const graph::JointGraph& step, const Plan& plan);

}  // namespace sapwood::partition
