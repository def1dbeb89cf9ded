#pragma once

#include <functional>

#include "graph/graph.h"

namespace sapwood::partition {

/// Milliseconds that a copy between device and host takes: bytes / 2^30 * 1000 / bandwidth.
double transfer_milliseconds(int64_t bytes, double bandwidth_gb_per_s);

/// Moves every wait for a copy to the host directly before the output, in order, so that the forward computes on while
/// copies run. The device tensors live until then. Both stream forms. Errors: user error naming the copy whose wait
/// isn't where offloading puts it.
void sink_offload_waits(graph::Graph& forward);

struct PrefetchModel {
  double bandwidth_gb_per_s = 50;
  std::function<double(const graph::Graph&, graph::NodeId)> milliseconds;  ///< of one call; none: 0
};

/// Starts copies back early enough to end before their waits, which stay where they are.
///
/// The backward is walked from its end. A copy that is met joins a queue with the time that it takes; each call before
/// it takes its own time off the first in the queue, which is placed before the call that leaves it none. What is left
/// at the placeholders starts directly behind them, in the old order. Both stream forms. O(nodes). Errors: user error
/// naming the copy whose stream operators aren't where offloading puts them. Source: the behaviour of
/// `activation_reload_prefetch` in PyTorch 2.13.
void prefetch_reloads(graph::Graph& backward, const PrefetchModel& model);

/// Errors: user error naming a wait for a tensor that no copy is on its way to, or that was waited for before: at run
/// time it would find no pending transfer.
void check_transfers(const graph::Graph& graph);

}  // namespace sapwood::partition
