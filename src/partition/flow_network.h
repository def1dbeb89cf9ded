#pragma once

#include <optional>
#include <string>
#include <vector>

#include "partition/bans.h"
#include "partition/conflict.h"
#include "partition/max_flow.h"
#include "partition/weights.h"

namespace sapwood::partition {

/// The flow network of the minimum cut. Each node of the joint graph has two vertices: `in` (the value can be computed)
/// and `out` (the value is there). Cutting the edge between them means saving the value.
///
/// | edge             | capacity | meaning                                             |
/// |------------------|----------|-----------------------------------------------------|
/// | source -> in     | infinite | must not be recomputed                              |
/// | in -> out        | weight   | may be saved at this price                          |
/// | out -> user's in | infinite | the user needs the value                            |
/// | in -> sink       | infinite | is computed in the backward                         |
/// | out -> sink      | infinite | must be there for the backward (it is returned)     |
class FlowNetwork {
 public:
  FlowNetwork(const JointView& view, const Classification& classes, const Bans& bans,
              const std::vector<Weight>& weights);

  struct Edge {
    std::string from;  ///< "source", "sink", "<node>_in", "<node>_out"
    std::string to;
    int64_t capacity = 0;
    bool infinite = false;
  };
  /// The network with names, for dumps and comparisons.
  std::vector<Edge> edges() const;

  /// A path of infinite edges from source to sink, or none. O(edges).
  std::optional<Conflict> conflict() const;

  struct Cut {
    int64_t value = 0;
    std::vector<graph::NodeId> saved;  ///< in graph order
  };
  /// The minimum cut closest to the sink. Errors: unsupported error if it is infinite, naming the nodes of an infinite
  /// path and the rules that conflict there.
  Cut solve();

 private:
  enum class Kind : uint8_t { kBan, kSave, kRead, kComputedInBackward, kReturned, kMarkedRecompute };
  struct EdgeInfo {
    Kind kind;
    graph::NodeId node;
    int64_t capacity;
    bool infinite;
  };

  int32_t in_vertex(graph::NodeId id) const { return 2 + 2 * view_.position[static_cast<size_t>(id)]; }
  int32_t out_vertex(graph::NodeId id) const { return in_vertex(id) + 1; }
  void add(Kind kind, graph::NodeId id, int32_t from, int32_t to);
  void add_node(graph::NodeId id);
  std::string vertex_name(int32_t vertex) const;
  std::string rule_text(int32_t edge) const;

  const JointView& view_;
  const Classification& classes_;
  const Bans& bans_;
  const std::vector<Weight>& weights_;
  MaxFlow flow_;
  std::vector<EdgeInfo> edges_;
};

}  // namespace sapwood::partition
