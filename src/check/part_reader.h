#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "check/insertions.h"
#include "check/pair_context.h"

namespace sapwood::check {

/// A piece of memory while a part runs. Only memory that the joint graph writes to has one.
struct Cell {
  graph::NodeId writer = graph::kNoNode;  ///< who wrote last, a node of the joint graph
  bool own = false;                       ///< allocated in this part
};

/// Runs through one part and finds the joint value of each node, the state of overwritten memory being part of what a
/// call computes. Reports calls that compute something else, late reads, and broken insertions.
class PartReader {
 public:
  /// `before`: the part that ran before, or null.
  PartReader(PairContext& context, const graph::Graph& part, Part which, const PartReader* before);

  /// Says what a placeholder holds.
  void bind(graph::NodeId placeholder, ValueId value) { value_[JointFacts::at(placeholder)] = value; }
  /// The placeholder's memory is that of a primal.
  void bind_memory_of_joint(graph::NodeId placeholder, graph::NodeId joint);
  /// The placeholder's memory is that of a node of the part before.
  void bind_memory_of_before(graph::NodeId placeholder, graph::NodeId node);
  /// Reads every call. Pre: placeholders are bound.
  void read();

  ValueId value_of(graph::NodeId id) const { return value_[JointFacts::at(id)]; }
  const graph::Graph& graph() const { return part_; }
  Part which() const { return which_; }

 private:
  struct Claims {
    size_t next = 0;  ///< occurrences before this one are taken
  };

  Findings::Place place(graph::NodeId id) const { return {which_, part_[id].name}; }
  void read_call(graph::NodeId id);
  void read_constant(graph::NodeId id);
  void read_random(graph::NodeId id, RunKind kind, size_t operator_at);
  bool read_replay(graph::NodeId id, const CallForm& form);
  int64_t generator_of(const graph::Node& node) const;
  bool read_marked(graph::NodeId id);
  bool read_derived(graph::NodeId id);
  bool read_snapshot(graph::NodeId id);
  bool read_reload(graph::NodeId id, const Derived& source);
  bool start_offload(graph::NodeId id);
  bool identify(graph::NodeId id, const CallForm& form);
  bool identify_pure(graph::NodeId id, const CallForm& form, const std::string& call);
  void report_unknown(graph::NodeId id);
  void report_late_read(graph::NodeId id, graph::NodeId joint);
  /// Goes on with the value that the name promises, so that one fault gives one finding.
  void recover(graph::NodeId id);

  std::string key_of(const CallForm& form) const;
  graph::NodeId choose(const std::vector<graph::NodeId>& occurrences, const std::string& call, graph::NodeId id);
  void accept_run(graph::NodeId id, graph::NodeId joint, const CallForm& form, const Run& run);
  void accept(graph::NodeId id, ValueId value, const CallForm& form);
  std::vector<graph::NodeId> writers(const CallForm& form) const;
  std::vector<int32_t> written_cells(graph::NodeId joint, const CallForm& form) const;
  int32_t cell_of(graph::NodeId joint, int32_t storage, const std::vector<graph::NodeId>& read) const;
  int32_t new_cell(Cell cell);
  int32_t external_cell(int32_t storage);

  PairContext& context_;
  const graph::Graph& part_;
  Part which_;
  const PartReader* before_;
  std::vector<ValueId> value_;
  std::vector<std::vector<int32_t>> cells_;  ///< by NodeId, parallel to the storages of the joint node
  std::vector<Cell> memory_;
  std::unordered_map<int32_t, int32_t> external_;     ///< joint storage -> cell
  std::unordered_map<int32_t, int32_t> handed_over_;  ///< cell of the part before -> cell
  std::unordered_map<std::string, Claims> claims_;
  std::vector<uint8_t> taken_;  ///< by joint NodeId
  QuantisationMarks marks_;
};

/// The name without "_recomputed" or "_recompute".
std::string_view base_name(std::string_view name);

}  // namespace sapwood::check
