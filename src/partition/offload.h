#pragma once

#include <string>
#include <vector>

#include "partition/handover.h"
#include "partition/pair.h"

namespace sapwood::partition {

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
