#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "partition/budget.h"
#include "partition/partition.h"

namespace sapwood::test {

/// A joint graph of test/data/scenarios, recorded by tools/oracle/scenarios.
graph::Graph scenario(const std::string& name);

/// A joint graph and what became of it.
struct Split {
  graph::Graph recorded;  ///< as it came
  graph::Graph joint;     ///< as `partition` left it
  partition::Plan plan;
  partition::Decision decision;
  partition::ForwardBackward parts;

  std::vector<std::string> saved() const;  ///< tensors, objects, symbols, in the order in which they are handed over
  /// Of what is saved, in name order; the base of a view stands for it.
  std::vector<std::string> saved_memory() const;
  std::vector<std::string> outputs() const;  ///< of the forward
  /// Also those that run with a saved random state.
  int64_t forward_calls(const std::string& target) const;
  int64_t backward_calls(const std::string& target) const;
  std::vector<size_t> counts() const;  ///< inputs and outputs of the forward, then of the backward
};

/// Partitions and splits.
Split split(const graph::Graph& joint, const partition::PartitionOptions& options);

/// Findings of the checker about a split, a line each.
std::string findings(const Split& split);

/// What holds for every good split: both graphs are sound and do what the joint graph does; every call of the backward
/// is marked as such and keeps the tag of the part that it was recorded in; symbols are handed over last.
void expect_good(const Split& split);

/// The two modes.
const std::vector<partition::Compatibility>& modes();
std::string mode_name(partition::Compatibility mode);

partition::PartitionOptions in_mode(partition::Compatibility mode, double budget = 1);

}  // namespace sapwood::test
