#pragma once

#include "graph/joint_graph.h"
#include "partition/plan.h"

namespace sapwood::partition {

/// Decides what the backward of a joint graph gets from its forward. The graph has tangent placeholders (targets that
/// contain "tangents") as AOTAutograd makes them. With `options.cse` the graph is changed first: common subexpressions
/// are merged. Errors: unsupported if the cut would be infinite, naming the nodes on the path and the rules that
/// conflict.
/// Decides as PyTorch 2.13 does, except that random operators are never recomputed unless a checkpoint asks for it (and
/// then from their saved state): with `ban_recompute_not_in_allowlist` off, PyTorch draws them a second time.
Plan partition(graph::Graph& joint, const PartitionOptions& options);

struct ForwardBackward {
  graph::Graph forward;   ///< outputs: the user's, saved tensors, saved symbols
  graph::Graph backward;  ///< placeholders: saved symbols, saved tensors, tangents
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
