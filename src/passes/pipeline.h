#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace sapwood::passes {

/// How to run a list of passes.
struct PipelineOptions {
  int rounds = 1;       ///< how often the list runs at most; it ends early after a round without a change
  bool verify = false;  ///< check the IR before the first pass and after each one
  std::vector<std::string> disabled = {};  ///< names of passes that are left out
  /// Called after every pass that ran, with the graph as it left it. Empty: no dumps.
  std::function<void(std::string_view pass, int round, const graph::Graph& graph)> dump = nullptr;
};

/// What one pass did in one round.
struct PassRecord {
  std::string name;
  int round = 0;
  bool changed = false;
  size_t nodes_before = 0;
  size_t nodes_after = 0;
  double seconds = 0;  ///< wall time of the pass alone, without verification and dump
};

/// The passes that every graph goes through before it is partitioned, in order.
std::span<const Pass> standard_passes();

/// Runs the passes in order and returns a record for each that ran.
///
/// Errors: user error if `disabled` names a pass that isn't in the list or `rounds` is negative; internal error naming
/// the pass that broke the IR. Not thread-safe for one graph; different graphs may run at the same time.
std::vector<PassRecord> run_passes(graph::Graph& graph, std::span<const Pass> passes,
                                   const PipelineOptions& options = {});

}  // namespace sapwood::passes
