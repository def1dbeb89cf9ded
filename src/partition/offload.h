#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition/pair.h"

namespace sapwood::partition {

/// Which saved tensors wait for the backward in host memory, and how they get there and back. The switches are those of
/// torch._functorch.config (`activation_offload_*`).
struct OffloadOptions {
  bool enabled = false;
  bool separate_stream = false;  ///< copies run beside the computation (`ao.*` operators)
  bool legacy_streams = false;   ///< with `separate_stream`: spelled out with `streams.*` operators
  bool sink_wait = false;        ///< with `separate_stream`: the forward waits for its copies at its end
  bool prefetch = false;         ///< with `separate_stream`: copies back start early enough to be hidden
  double bandwidth_gb_per_s = 50;
  /// Names of forward values to offload. Those whose checkpoint policy is kMustCpuOffload or kPreferCpuOffload are
  /// taken besides.
  std::vector<std::string> names;
  /// Milliseconds that one call of the backward computes, for prefetching; 0 for calls that hide nothing (PyTorch
  /// counts only those with a flop formula). Without it every copy back starts at once.
  std::function<double(const graph::Graph&, graph::NodeId)> milliseconds;
};

struct OffloadedTensor {
  std::string name;      ///< of the value
  std::string on_host;   ///< "cpu_offload_<name>": output of the forward, placeholder of the backward
  std::string reloaded;  ///< "gpu_reload_<name>": what the backward reads
  int64_t bytes = 0;     ///< moved to the host, and back again
};

struct OffloadRefusal {
  std::string name;
  std::string reason;  ///< one sentence
};

struct OffloadReport {
  std::vector<OffloadedTensor> tensors;  ///< by position among the forward's outputs
  std::vector<OffloadRefusal> refused;   ///< in graph order, then names that are no node in the order of the options
  int64_t bytes() const;
};

/// Moves saved tensors to host memory after their last use in the forward and back before their first in the backward.
///
/// | form                           | forward, behind the last use           | backward, before the first      |
/// |--------------------------------|----------------------------------------|---------------------------------|
/// | plain                          | device_put                             | device_put                      |
/// | separate_stream                | offload, wait (holds the device tensor)| reload, wait (holds the host's) |
/// | separate_stream, legacy_streams| record event, fork, wait event, record stream, device_put, record event, join,
/// wait |                                | event; backward: fork, wait stream, device_put, record event, join, wait
/// event |
///
/// A use of a view, or of anything that shares memory with the value, is a use of the value.
/// Returns: what was moved and what wasn't, with reasons; empty without `options.enabled`. O(size of the graphs).
/// Errors:  user error for a bandwidth that isn't positive, and for sinking, prefetching or legacy streams without
///          `separate_stream`; internal error if the backward lacks a saved value.
/// Source:  the behaviour of `enable_activation_offloading` in PyTorch 2.13, node for node. Refused besides, with a
///          reason, is what PyTorch would move for nothing or free under a reader: values on the host already, values
///          whose memory another output keeps, and with `separate_stream` the caller's inputs.
OffloadReport offload_saved(ForwardBackward& pair, const PairFacts& facts, const OffloadOptions& options);

/// What offloading can say of one value.
struct OffloadCandidates {
  std::vector<graph::NodeId> chosen;    ///< nodes of the forward, by first position among its outputs
  std::vector<OffloadRefusal> refused;  ///< as in the report
};

/// The candidates that can be offloaded, and why others can't. Changes nothing.
OffloadCandidates choose_offloads(const ForwardBackward& pair, const PairFacts& facts, const OffloadOptions& options);

}  // namespace sapwood::partition
