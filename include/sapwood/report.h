#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace sapwood {

/// A tensor kept from the forward for the backward.
struct SavedTensor {
  std::string name;   ///< node of the captured graph
  std::string shape;  ///< "float32[12, 64, 128]"
  int64_t bytes = 0;
  std::string reason;  ///< why it is kept and not recomputed
  std::string source;  ///< where the user's code made it, if known
};

/// What became of one signature (shapes, dtypes, flags of a call).
struct SignatureReport {
  std::string signature;  ///< "float32[12,64] train"
  bool compiled = false;  ///< false: runs eagerly, see `fallback`
  std::string fallback;   ///< why it runs eagerly; empty if compiled
  int64_t nodes = 0;      ///< of the captured graph
  int64_t forward_nodes = 0, backward_nodes = 0, optimizer_nodes = 0;
  int64_t launches = 0;                              ///< what one replay executes
  int64_t fused_nodes = 0;                           ///< nodes that run inside a fused pointwise launch
  std::vector<std::pair<std::string, int64_t>> ops;  ///< how often each operator occurs, most frequent first
  std::vector<SavedTensor> saved;
  std::vector<std::string> recomputed;  ///< nodes that the backward computes again
  int64_t saved_bytes = 0;              ///< of `saved`
  int64_t peak_live_bytes = 0;      ///< planned peak of values that live during the step, without parameters and state
  int64_t arena_bytes = 0;          ///< preallocated for them
  std::vector<int64_t> live_bytes;  ///< live bytes after each launch
  double capture_ms = 0, compile_ms = 0;  ///< once
  int64_t replays = 0;
  double mean_replay_ms = 0;
  int64_t checks = 0;             ///< replays compared with eager
  double largest_difference = 0;  ///< over all checks, absolute
};

/// What Sapwood did with a step. Plain data, a snapshot: later steps don't change it.
struct Report {
  std::vector<SignatureReport> signatures;
  int64_t eager_steps = 0, captured_steps = 0, replayed_steps = 0;
  std::vector<std::string> warnings;

  std::string text() const;
  std::string json() const;
};

std::ostream& operator<<(std::ostream& out, const Report& report);

}  // namespace sapwood
