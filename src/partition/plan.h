#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/joint_graph.h"

namespace sapwood::partition {

enum class Method : uint8_t {
  kDefault,  ///< save what the backward reads, as autograd does
  kMinCut,   ///< save the cheapest cut and recompute the rest (PyTorch 2.13's decisions)
};

/// The knobs of the min cut; names, meanings and defaults are those of torch._functorch.config.
struct PartitionOptions {
  Method method = Method::kMinCut;
  bool cse = true;
  bool recompute_views = false;
  bool treat_parameters_as_free_to_save = true;
  bool aggressive_recomputation = false;
  bool ban_recompute_used_far_apart = true;
  bool ban_recompute_long_fusible_chains = true;
  bool ban_recompute_materialized_backward = true;
  bool ban_recompute_not_in_allowlist = true;
  bool ban_recompute_reductions = true;
  int64_t max_dist_from_bw = 1000;
  /// Recompute only what costs no pass over memory (views, constants): for executors that don't fuse.
  bool recompute_only_free = false;
};

/// A value that the forward hands to the backward.
struct SavedValue {
  graph::NodeId node = graph::kNoNode;
  int64_t bytes = 0;      ///< of the tensor, with hints for symbolic sizes; 0 for a symbol
  std::string reason;     ///< one sentence: why it is saved and not recomputed
  bool is_input = false;  ///< an input of the step (or a constant of the graph): nothing more has to be kept
};

/// A forward value that the backward computes again.
struct RecomputedValue {
  graph::NodeId node = graph::kNoNode;
  int64_t bytes = 0;  ///< bytes that need not be kept because of it
  std::string reason;
};

/// The decision of a partitioner: data that can be printed, compared and checked. Node ids are those of the joint
/// graph.
struct Plan {
  Method method = Method::kMinCut;
  std::vector<SavedValue> saved;          ///< tensors, in graph order
  std::vector<SavedValue> saved_symbols;  ///< symbolic sizes, always after the tensors
  std::vector<RecomputedValue> recomputed;
  int64_t cut_value = 0;        ///< capacity of the minimum cut; 0 for kDefault
  int64_t saved_bytes() const;  ///< of what isn't an input of the step
};

}  // namespace sapwood::partition
