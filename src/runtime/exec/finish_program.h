#pragma once

#include <vector>

#include "runtime/exec/executable.h"
#include "runtime/exec/launch.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// The launches of a program, in order, with the place of their memory decided.
struct FinishedProgram {
  std::vector<Launch> launches;
  std::vector<graph::NodeId> launch_nodes;  ///< node of each launch; kNoNode for copies that end the step
  MemoryReport memory;
  int64_t fused_nodes = 0;
};

/// Decides everything that remains: write-backs, fusion, order and memory. Changes `program` accordingly (placements,
/// calls). Without fusion and memory planning the launches keep the order of the graph.
FinishedProgram finish_program(Program& program, const graph::JointGraph& step, const ExecutableOptions& options);

}  // namespace sapwood::exec
