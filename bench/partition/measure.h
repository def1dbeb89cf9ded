#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "partition/options.h"

namespace sapwood::bench {

/// Of one call.
struct Seconds {
  double wall = 0;
  double cpu = 0;  ///< of the process: what a machine that others use leaves comparable
};

/// What is measured: a name in both systems, and our options for it.
struct Configuration {
  std::string name;
  partition::PartitionOptions options;
};

/// "default", "min_cut", and "budget" (half the activation memory, by the solver "dp"); all decide as PyTorch 2.13
/// does.
std::vector<Configuration> configurations();

/// The time of partition and extract, on a copy of the graph that is made before; the processor's caches are cold.
Seconds time_partition(const graph::Graph& joint, const Configuration& configuration);

/// Bytes on the heap.
struct PeakBytes {
  int64_t decision = 0;  ///< most that `partition` holds at a time besides the graph it is given
  int64_t all = 0;       ///< the same of partition and extract together; the two new graphs count
  int64_t graph = 0;     ///< of the joint graph itself
};

/// Counted by this program's operator new, in sizes as the allocator rounds them.
PeakBytes measure_peaks(const graph::Graph& joint, const Configuration& configuration);

/// The value in the middle (of an even number, the mean of two); 0 of nothing.
double median(std::vector<double> values);

}  // namespace sapwood::bench
