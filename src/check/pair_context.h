#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "check/findings.h"
#include "check/value_table.h"

namespace sapwood::check {

/// Values that only a pair has. `of` is the value of the joint graph that it stands for.
enum class DerivedKind : uint8_t {
  kInside,         ///< an intermediate of an insertion; of no use to anybody else
  kHostPending,    ///< `ao.offload`: on its way to the host
  kHost,           ///< a copy on another device; number: state of its memory
  kDevicePending,  ///< `ao.reload`: on its way back
  kRandomTuple,    ///< `run_and_save_rng_state`: (state, result)
  kRandomState,    ///< the state before the draw
  kGenerator,      ///< placeholder fwd_rng_state_N / bwd_rng_state_N; number: N
  kScale,          ///< number: position among the forward outputs
  kQuantised,      ///< stored as it is; number: position
  kScaled,         ///< stored multiplied by its scale; number: position
  kRaised,         ///< kScaled, converted back, not yet divided
  kUnscaled,       ///< kRaised, divided by its scale
};

struct Derived {
  DerivedKind kind = DerivedKind::kInside;
  ValueId of = kNoValue;
  int64_t number = 0;
  friend auto operator<=>(const Derived&, const Derived&) = default;
};

enum class RunKind : uint8_t { kPlain, kStateSaved, kReplayed, kOwnGenerator };

/// One execution of a node with identity.
struct Run {
  graph::NodeId joint = graph::kNoNode;
  Part part = Part::kForward;
  std::string node;
  RunKind kind = RunKind::kPlain;
  int64_t generator = -1;      ///< of kOwnGenerator
  bool on_own_memory = false;  ///< writes only to memory that this part allocated
};

/// What the steps of one check share.
struct PairContext {
  PairContext(const JointFacts& joint_facts, const ValueTable& values, Findings& found, const PairOptions& pair_options)
      : facts(joint_facts),
        table(values),
        findings(found),
        options(pair_options),
        has_run(joint_facts.graph.id_bound(), 0) {}

  const JointFacts& facts;
  const ValueTable& table;
  Findings& findings;
  PairOptions options;
  std::vector<Run> runs;
  std::vector<uint8_t> has_run;                           ///< by joint NodeId
  std::vector<std::vector<graph::NodeId>> memory_states;  ///< of offloaded values: who had written to their memory

  /// The number of a derived value; equal ones have equal numbers.
  ValueId derive(const Derived& derived) {
    const auto next = static_cast<ValueId>(table.size() + derived_.size());
    const auto [entry, is_new] = numbers_.try_emplace(derived, next);
    if (is_new) derived_.push_back(derived);
    return entry->second;
  }
  /// Null for values of the joint graph.
  const Derived* derived(ValueId value) const {
    if (value < 0 || table.is_joint(value)) return nullptr;
    return &derived_[static_cast<size_t>(value) - table.size()];
  }
  /// For messages: the name of the value in the joint graph, or what it is made from.
  std::string name_of(ValueId value) const;

 private:
  std::map<Derived, ValueId> numbers_;
  std::vector<Derived> derived_;
};

}  // namespace sapwood::check
