#include <algorithm>
#include <unordered_map>

#include "check/findings.h"
#include "check/joint_facts.h"
#include "graph/verify.h"

namespace sapwood::check {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;

/// Proves one plan.
class PlanCheck {
 public:
  PlanCheck(const JointFacts& facts, const PlanFacts& plan, Findings& findings)
      : facts_(facts),
        plan_(plan),
        findings_(findings),
        saved_(facts.graph.id_bound(), 0),
        listed_(facts.graph.id_bound(), 0),
        for_outputs_(facts.graph.id_bound(), 0),
        in_forward_(facts.graph.id_bound(), 0),
        in_backward_(facts.graph.id_bound(), 0) {}

  void run() {
    resolve_saved(plan_.saved, false);
    resolve_saved(plan_.saved_symbols, true);
    resolve_recomputed();
    resolve_offloaded();
    find_forward();
    find_backward();
    for (const NodeId id : facts_.order)
      if (in_backward_[at(id)]) check_node(id);
    check_memory();
  }

 private:
  static size_t at(NodeId id) { return JointFacts::at(id); }
  const std::string& name(NodeId id) const { return facts_.node(id).name; }

  void report(std::string_view rule, const std::string& node, const std::string& message, std::string remedy) {
    findings_.add(rule, {Part::kPlan, node}, message, std::move(remedy));
  }

  /// The node of a name if it is a value that the forward can compute.
  NodeId resolve(const std::string& text, const std::string& list) {
    const NodeId id = facts_.graph.find(text);
    const std::string remedy = "Name forward values of the joint graph only.";
    if (id == kNoNode || facts_.role_of(id) == Role::kOutput) {
      report(kBackwardInput, text, "'" + text + "' is " + list + ", but the joint graph has no such value.", remedy);
      return kNoNode;
    }
    if (!facts_.closure[at(id)] && facts_.role_of(id) != Role::kBackwardSeed) return id;
    report(kBackwardInput, text, "'" + text + "' is " + list + ", but only the backward can compute it.", remedy);
    return kNoNode;
  }

  void resolve_saved(const std::vector<std::string>& names, bool symbols) {
    for (const std::string& text : names) {
      const NodeId id = resolve(text, "saved");
      if (id == kNoNode) continue;
      saved_[at(id)] = 1;
      const auto& val = facts_.node(id).val;
      const bool is_symbol =
          val && (val->as<graph::SymIntValue>() || val->as<graph::SymFloatValue>() || val->as<graph::SymBoolValue>());
      if (is_symbol != symbols)
        report(kBackwardInput, text,
               "'" + text + "' is " + (is_symbol ? "a symbol" : "no symbol") + ", but is listed as the opposite.",
               "List symbols apart from other values.");
      if (val && (val->as<graph::TupleValue>() || val->as<graph::ListValue>() || val->as<graph::NoneValue>()))
        report(kBackwardInput, text, "'" + text + "' is saved, but isn't a single value.",
               "Save what is taken from it.");
    }
  }

  void resolve_recomputed() {
    for (const std::string& text : plan_.recomputed) {
      const NodeId id = resolve(text, "recomputed");
      if (id == kNoNode) continue;
      listed_[at(id)] = 1;
      if (saved_[at(id)]) report(kBackwardInput, text, "'" + text + "' is saved and recomputed.", "Do one of the two.");
      if (!facts_.is_call(id) && facts_.role_of(id) != Role::kAttribute)
        report(kBackwardInput, text, "'" + text + "' is an input and can't be recomputed.", "Save it.");
    }
  }

  void resolve_offloaded() {
    for (const std::string& text : plan_.offloaded) {
      const NodeId id = facts_.graph.find(text);
      if (id != kNoNode && saved_[at(id)] && facts_.node(id).tensor()) continue;
      report(kInsertionPaired, text, "'" + text + "' is offloaded, but isn't a saved tensor.",
             "Offload saved tensors only.");
    }
  }

  /// Runs in the forward: what its outputs, what is saved and its effects need.
  void find_forward() {
    const std::vector<NodeId> outputs = facts_.graph.output_values();
    const auto split = std::clamp<int64_t>(facts_.graph.num_forward_outputs, 0, std::ssize(outputs));
    for (int64_t i = 0; i < split; ++i)
      if (outputs[static_cast<size_t>(i)] != kNoNode) for_outputs_[at(outputs[static_cast<size_t>(i)])] = 1;
    for (auto it = facts_.order.rbegin(); it != facts_.order.rend(); ++it) {
      const bool acts = is_required_effect(*it) && !facts_.closure[at(*it)];
      if (acts) for_outputs_[at(*it)] = 1;
      if (for_outputs_[at(*it)] || saved_[at(*it)]) in_forward_[at(*it)] = 1;
      if (!in_forward_[at(*it)]) continue;
      for (const NodeId read : mentions(facts_.node(*it))) {
        in_forward_[at(read)] = 1;
        if (for_outputs_[at(*it)]) for_outputs_[at(read)] = 1;
      }
    }
  }

  /// Runs in the backward: what its outputs and effects need and what isn't saved.
  void find_backward() {
    const std::vector<NodeId> outputs = facts_.graph.output_values();
    const auto split = std::clamp<int64_t>(facts_.graph.num_forward_outputs, 0, std::ssize(outputs));
    for (auto i = static_cast<size_t>(split); i < outputs.size(); ++i)
      if (outputs[i] != kNoNode) in_backward_[at(outputs[i])] = 1;
    for (auto it = facts_.order.rbegin(); it != facts_.order.rend(); ++it) {
      if (is_required_effect(*it) && facts_.closure[at(*it)]) in_backward_[at(*it)] = 1;
      if (saved_[at(*it)]) in_backward_[at(*it)] = 0;
      if (!in_backward_[at(*it)] || !facts_.is_call(*it)) continue;
      for (const NodeId read : mentions(facts_.node(*it))) in_backward_[at(read)] = 1;
    }
  }

  bool is_required_effect(NodeId id) const {
    const Effect effect = facts_.effect_of(id);
    return effect == Effect::kMutation || effect == Effect::kOther;
  }

  void check_node(NodeId id) {
    const Role role = facts_.role_of(id);
    if ((role == Role::kPrimal && !facts_.is_opaque_primal(id)) || role == Role::kForwardSeed)
      return report(kBackwardInput, name(id), "The backward needs the input '" + name(id) + "', which isn't saved.",
                    "Save it.");
    if (role != Role::kCall || facts_.closure[at(id)] || !in_forward_[at(id)]) return;
    const bool marked = facts_.is_marked_recompute(id);
    if (facts_.draws[at(id)] && !marked)
      report(kRandomOnce, name(id), "'" + name(id) + "' would draw a second time, and get other numbers.",
             "Save its result.");
    const Effect effect = facts_.effect_of(id);
    const bool own_memory = effect == Effect::kMutation && writes_own_memory(id);
    if (effect != Effect::kNone && effect != Effect::kRepeatable && !own_memory &&
        !(marked && effect != Effect::kMutation))
      report(kEffectOnce, name(id), "'" + name(id) + "' has an effect and would run twice.", "Save its result.");
    if (!plan_.recomputed.empty() && for_outputs_[at(id)] && !listed_[at(id)])
      report(kBackwardInput, name(id),
             "The backward needs '" + name(id) + "', which is neither saved nor listed as recomputed.",
             "Save it or list it.");
  }

  bool writes_own_memory(NodeId id) const {
    return std::ranges::all_of(facts_.writes[at(id)], [&](int32_t storage) {
      return std::ranges::any_of(mentions(facts_.node(id)), [&](NodeId read) {
        const auto& storages = facts_.storages[at(read)];
        return std::ranges::find(storages, storage) != storages.end() && in_backward_[at(read)] && facts_.is_call(read);
      });
    });
  }

  /// Runs the backward behind the forward and compares what state of memory each node reads.
  void check_memory() {
    std::unordered_map<int32_t, NodeId> writer;
    for (const NodeId id : facts_.order)
      if (in_forward_[at(id)])
        for (const int32_t storage : facts_.writes[at(id)]) writer[storage] = id;
    for (const NodeId id : facts_.order) {
      if (!in_backward_[at(id)] || !facts_.is_call(id)) continue;
      for (const MemoryRead& read : facts_.reads[at(id)]) {
        const auto last = writer.find(read.storage);
        if ((last == writer.end() ? kNoNode : last->second) == read.writer) continue;
        report(kMutation, name(id),
               "'" + name(id) + "' would read memory in the backward after '" + name(last->second) +
                   "' has overwritten it, but reads another state in the joint graph.",
               "Save what is read before the write.");
        break;
      }
      for (const int32_t storage : facts_.writes[at(id)]) writer[storage] = id;
      if (!facts_.makes_memory[at(id)]) continue;
      for (const int32_t storage : facts_.storages[at(id)]) writer.erase(storage);
    }
  }

  const JointFacts& facts_;
  const PlanFacts& plan_;
  Findings& findings_;
  std::vector<uint8_t> saved_;
  std::vector<uint8_t> listed_;
  std::vector<uint8_t> for_outputs_;  ///< the forward's own results and effects need it
  std::vector<uint8_t> in_forward_;
  std::vector<uint8_t> in_backward_;
};

}  // namespace

std::vector<Finding> check_plan(const Graph& joint, const PlanFacts& plan) {
  Findings findings;
  for (const graph::Violation& violation : graph::verify(joint))
    findings.add(kWellFormed, {Part::kJoint, violation.node == kNoNode ? std::string() : joint[violation.node].name},
                 violation.rule + ": " + violation.message, "Make the graph well-formed.");
  if (!findings.empty()) return std::move(findings).sorted();
  const JointFacts facts(joint);
  PlanCheck(facts, plan, findings).run();
  return std::move(findings).sorted();
}

}  // namespace sapwood::check
