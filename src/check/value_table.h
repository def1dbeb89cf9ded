#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check/joint_facts.h"

namespace sapwood::check {

/// Number of a value. Equal numbers: equal values.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// A call as far as its value goes; refers to the node that it was taken from.
struct CallForm {
  std::string_view target;
  std::span<const graph::Argument> args;
  const std::vector<std::pair<std::string, graph::Argument>>* kwargs = nullptr;
  std::string_view left_out;  ///< a keyword argument that doesn't count
};

CallForm form_of(const graph::Node& node);

/// Text that is equal for two calls exactly if target and arguments are equal, nodes standing for their values. Types
/// count: 1 isn't 1.0.
std::string call_key(const CallForm& form, const std::function<ValueId(graph::NodeId)>& value_of);

/// Text for the states of the overwritten memory that a call reads: the writers, in order of first mention. Empty if
/// nobody has written yet.
std::string memory_key(const std::vector<graph::NodeId>& writers);

/// The values of a joint graph, numbered by what computes them (hash-consing). Placeholders, draws, effects and
/// allocations of memory that is written later have a value of their own each.
class ValueTable {
 public:
  explicit ValueTable(const JointFacts& facts);

  ValueId value_of(graph::NodeId joint) const { return value_[JointFacts::at(joint)]; }
  /// A node of the joint graph that has the value.
  graph::NodeId node_of(ValueId value) const { return node_[static_cast<size_t>(value)]; }
  bool is_joint(ValueId value) const { return value >= 0 && static_cast<size_t>(value) < node_.size(); }
  size_t size() const { return node_.size(); }

  /// The value of a call without identity that reads memory in the given state, or kNoValue.
  ValueId find(const std::string& call, const std::string& memory) const;
  /// Some node makes this call, in whatever state of memory: its value, or kNoValue.
  ValueId find_in_any_state(const std::string& call) const;
  /// The nodes with identity that make this call, in graph order; null if there are none.
  const std::vector<graph::NodeId>* occurrences(const std::string& call) const;
  /// The value of a constant of the joint graph, or kNoValue.
  ValueId constant(const std::string& target) const;

 private:
  void number_call(const JointFacts& facts, graph::NodeId id);
  ValueId fresh(graph::NodeId id);

  std::vector<ValueId> value_;
  std::vector<graph::NodeId> node_;
  std::unordered_map<std::string, ValueId> calls_;
  std::unordered_map<std::string, ValueId> any_state_;  ///< only calls that read overwritten memory
  std::unordered_map<std::string, std::vector<graph::NodeId>> occurrences_;
  std::unordered_map<std::string, ValueId> constants_;
};

}  // namespace sapwood::check
