#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace sapwood::partition {

struct SingleGraphRemat {
  std::vector<std::string> recomputed;  ///< names of the copies, "<name>_recomputed", in graph order
  std::vector<std::string> dropped;     ///< names of nodes that nothing reads any more, in the old graph order
};

/// Recomputes checkpointed values in a graph that holds forward, loss and backward, so that they don't live from one to
/// the other.
///
/// A backward region is a run of nodes marked `autograd_backward`, or of those whose `custom` has "phase": "backward"
/// if any node has it. Before the first node of the region that needs it, a value that the user's checkpointing marks
/// for recomputation (after the rules of `apply_tag_rules`, which are written to the graph) is computed again from
/// marked values before the region and from unmarked ones. Then dead nodes are dropped, and results of operators with
/// several come directly behind these. What is computed inside the region isn't computed again. Running it again
/// changes nothing.
///
/// Returns: what was done; nothing if no node is marked or no region needs it. Linear in the size of the graph, but for
///          sorting the copies made before one node.
/// Errors:  unsupported error if a marked operator draws random numbers, if one that writes to memory or has an effect
///          would be copied, or if two regions need recomputation; user error if two regions are annotated. The graph
///          stays as it was.
/// Source:  the behaviour of `remat_using_tags_for_fwd_loss_bwd_graph` in PyTorch 2.13, whose check for random
/// operators
///          also refuses attention without dropout.
SingleGraphRemat rematerialize_single_graph(graph::Graph& graph);

}  // namespace sapwood::partition
