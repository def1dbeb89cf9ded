#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "partition/options.h"

namespace sapwood::oracle {

/// How one recorded decision of PyTorch's partitioner compares with ours.
enum class Verdict : uint8_t {
  kEqual,
  kOptimal,      ///< the `ilp` solver: PyTorch's answer needn't be the best, ours is proven to be
  kDifferent,
  kNotRecorded,  ///< PyTorch raised an error or ran out of time, and ours works
};

struct Comparison {
  Verdict verdict = Verdict::kEqual;
  std::string difference;  ///< the first one, in a sentence
};

/// Our options for a recorded configuration, with PyTorch's answers asked for. Errors: user error naming an option that
/// we don't have.
partition::PartitionOptions recorded_options(const nlohmann::json& config);

/// "min_cut activation_memory_budget=0.5 activation_memory_budget_solver=dp ..."
std::string configuration_name(const nlohmann::json& config);

/// Partitions a copy of `joint` under the recorded configuration and compares: saved values in order; nodes of both
/// parts in order, with operators and wiring; outputs; inputs of the backward. With `deep` also every minimum cut on the
/// way and the knapsack.
Comparison compare(const graph::Graph& joint, const nlohmann::json& decision, bool deep);

}  // namespace sapwood::oracle
