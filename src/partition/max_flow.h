#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sapwood::partition {

/// A directed network with integer capacities, and its maximum flow (Dinitz' algorithm on index arrays).
///
/// Vertices are 0 .. vertices-1. Infinite capacity is a flag, never a large number. Not thread-safe.
class MaxFlow {
 public:
  explicit MaxFlow(int32_t vertices) : first_(static_cast<size_t>(vertices), -1) {}

  /// Adds an edge; returns its number (0, 1, 2, ...). Pre: capacity >= 0.
  int32_t add_edge(int32_t from, int32_t to, int64_t capacity);
  int32_t add_infinite_edge(int32_t from, int32_t to);

  /// Edge numbers of a path whose edges are all infinite, or nothing.
  std::optional<std::vector<int32_t>> infinite_path(int32_t source, int32_t sink) const;

  /// The value of the maximum flow; afterwards `sink_side` is valid. O(V^2 E) in the worst case, near linear on the
  /// shallow networks of partitioning. Pre: no infinite path. Errors: internal error if the finite capacities don't fit
  /// 63 bits in sum.
  int64_t solve(int32_t source, int32_t sink);

  /// By vertex: can still reach the sink in the residual network. This is the minimum cut closest to the sink; it is
  /// the same for every maximum flow.
  std::vector<uint8_t> sink_side(int32_t sink) const;

  int32_t vertices() const { return static_cast<int32_t>(first_.size()); }
  int32_t from(int32_t edge) const { return arcs_[static_cast<size_t>(edge) * 2 + 1].head; }
  int32_t to(int32_t edge) const { return arcs_[static_cast<size_t>(edge) * 2].head; }

 private:
  // Edge e is arc 2e, its reverse arc 2e + 1. Arcs out of a vertex form a list: first_[v], its next, ...
  struct Arc {
    int64_t residual;
    int32_t head;
    int32_t next;
    bool infinite;
    bool open() const { return infinite || residual > 0; }
  };
  int32_t add_arc(int32_t from, int32_t to, int64_t residual, bool infinite);
  const Arc& arc(int32_t index) const { return arcs_[static_cast<size_t>(index)]; }
  bool build_levels(int32_t source, int32_t sink);
  int64_t augment(int32_t source, int32_t sink);
  int64_t push_along(const std::vector<int32_t>& path);
  void check_sum() const;

  std::vector<int32_t> first_;
  std::vector<Arc> arcs_;
  std::vector<int32_t> level_;
  std::vector<int32_t> current_;  // next arc to try, by vertex
};

}  // namespace sapwood::partition
