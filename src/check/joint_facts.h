#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "ops/op_table.h"

namespace sapwood::check {

enum class Role : uint8_t { kPrimal, kForwardSeed, kBackwardSeed, kTangent, kAttribute, kCall, kOutput };

/// What running a call does besides computing its results.
enum class Effect : uint8_t {
  kNone,
  kRepeatable,  ///< assertions, profiler marks, waits: may run in both parts
  kCollective,  ///< may vanish if nothing reads its result, otherwise runs once
  kMutation,    ///< writes to an argument
  kOther,
};

/// The part in which a node has to run.
enum class Home : uint8_t { kAny, kForward, kBackward };

/// Memory that a node reads, and who wrote to it last in the joint graph.
struct MemoryRead {
  int32_t storage = -1;
  graph::NodeId writer = graph::kNoNode;  ///< kNoNode: as it was at first
  friend bool operator==(const MemoryRead&, const MemoryRead&) = default;
};

/// A joint graph as the checker reads it. All tables are indexed by NodeId. It refers to the graph, which has to
/// outlive it. Only memory that some node writes to is followed: everywhere else values are all there is.
struct JointFacts {
  explicit JointFacts(const graph::Graph& joint);

  const graph::Graph& graph;
  std::vector<graph::NodeId> order;
  std::vector<int32_t> position;
  std::vector<Role> role;
  std::vector<const ops::OpInfo*> op;
  std::vector<uint8_t> draws;
  std::vector<Effect> effect;
  std::vector<Home> home;
  std::vector<uint8_t> closure;                ///< depends on a tangent
  std::vector<uint8_t> live;                   ///< an output or an effect needs it
  std::vector<std::vector<int32_t>> storages;  ///< overwritten memory that the value lies in, each once
  std::vector<std::vector<int32_t>> writes;    ///< memory that the call writes to
  std::vector<std::vector<MemoryRead>> reads;  ///< overwritten memory whose contents the call reads
  std::vector<uint8_t> makes_memory;           ///< the call allocates memory that is written to later

  const graph::Node& node(graph::NodeId id) const { return graph[id]; }
  Role role_of(graph::NodeId id) const { return role[at(id)]; }
  bool is_call(graph::NodeId id) const { return role_of(id) == Role::kCall; }
  Effect effect_of(graph::NodeId id) const { return effect[at(id)]; }
  /// Two runs of the node are two different things, however equal their arguments are.
  bool has_identity(graph::NodeId id) const;
  /// The user's checkpoint asks for a second run.
  bool is_marked_recompute(graph::NodeId id) const;
  bool is_opaque_primal(graph::NodeId id) const;
  std::vector<graph::NodeId> with_role(Role wanted) const;
  /// Whether a list of nodes in graph order has `id`. O(log n).
  bool contains(const std::vector<graph::NodeId>& ordered, graph::NodeId id) const;
  static size_t at(graph::NodeId id) { return static_cast<size_t>(id); }

 private:
  const ops::OpInfo* lookup(const graph::Node& node);
  void classify_calls();
  void find_written_memory();
  void follow_memory();
  void find_closure();
  void find_live();

  std::unordered_map<std::string, const ops::OpInfo*> by_target_;
  std::deque<ops::OpInfo> owned_;
};

/// Every node that the arguments of `node` mention, in order, with repetitions.
std::vector<graph::NodeId> mentions(const graph::Node& node);

/// Storage numbers of the tensors in a value, in order, with repetitions; -1 for a tensor without one.
void append_storages(const graph::Value& value, std::vector<int32_t>& storages);

bool mentions_text(std::string_view text, std::string_view part);

}  // namespace sapwood::check
