#include "check/run_rules.h"

#include <algorithm>
#include <set>

namespace sapwood::check {
namespace {

using graph::NodeId;

struct Runs {
  std::vector<const Run*> forward;
  std::vector<const Run*> backward;
};

/// By joint NodeId.
std::vector<Runs> group(const PairContext& context) {
  std::vector<Runs> groups(context.facts.graph.id_bound());
  for (const Run& run : context.runs) {
    Runs& own = groups[JointFacts::at(run.joint)];
    (run.part == Part::kForward ? own.forward : own.backward).push_back(&run);
  }
  return groups;
}

bool is_effect(const JointFacts& facts, NodeId id) {
  const Effect effect = facts.effect_of(id);
  return effect != Effect::kNone && effect != Effect::kRepeatable;
}

/// The two draws are one: the second starts from the state of the first.
bool is_replayed(const Run& first, const Run& second) {
  if (first.kind == RunKind::kStateSaved) return second.kind == RunKind::kReplayed;
  return first.kind == RunKind::kOwnGenerator && second.kind == RunKind::kOwnGenerator && first.generator >= 0 &&
         first.generator == second.generator;
}

void report_draw(PairContext& context, const Run& run, const std::string& what) {
  context.findings.add(kRandomOnce, {run.part, run.node}, "'" + run.node + "' " + what + ".",
                       "Save the random values, or replay the operator from the state that its first run saved.");
}

/// Each generator belongs to one draw of a part.
void check_generators(PairContext& context) {
  std::set<std::pair<Part, int64_t>> used;
  for (const Run& run : context.runs) {
    if (run.kind != RunKind::kOwnGenerator) continue;
    if (!used.emplace(run.part, run.generator).second)
      report_draw(context, run, "shares its generator with another random operator");
  }
}

void check_draw_order(PairContext& context) {
  int32_t last = -1;
  const Run* before = nullptr;
  for (const Run& run : context.runs) {
    const size_t at = JointFacts::at(run.joint);
    if (run.part != Part::kForward || !context.facts.draws[at] || run.kind == RunKind::kOwnGenerator) continue;
    if (context.facts.position[at] < last)
      report_draw(context, run, "draws after '" + before->node + "', but before it in the joint graph");
    last = std::max(last, context.facts.position[at]);
    before = &run;
  }
}

void report_effect(PairContext& context, const Findings::Place& place, const std::string& message) {
  context.findings.add(kEffectOnce, place, message,
                       "Run each effect once, in the part and the order in which the "
                       "joint graph has it.");
}

std::string runs_text(NodeId id, const PairContext& context) { return "'" + context.facts.node(id).name + "'"; }

void check_repeated(PairContext& context, NodeId id, const Runs& runs) {
  const bool is_mutation = context.facts.effect_of(id) == Effect::kMutation;
  const bool marked = context.facts.is_marked_recompute(id) && !is_mutation;
  for (const auto* list : {&runs.forward, &runs.backward})
    for (size_t i = 1; i < list->size(); ++i)
      report_effect(context, {(*list)[i]->part, (*list)[i]->node},
                    "'" + (*list)[i]->node + "' runs " + runs_text(id, context) + " of the joint graph a second time.");
  if (runs.forward.empty() || runs.backward.empty() || marked) return;
  const Run& second = *runs.backward.front();
  if (second.on_own_memory) return;
  report_effect(context, {second.part, second.node},
                "'" + second.node + "' runs in the forward and again in the backward.");
}

void check_home(PairContext& context, NodeId id, const Runs& runs) {
  const Home home = context.facts.home[JointFacts::at(id)];
  const bool after_tangent = context.facts.closure[JointFacts::at(id)] != 0;
  const bool wants_forward = home == Home::kForward && !after_tangent;
  const bool wants_backward = home == Home::kBackward || after_tangent;
  if (wants_forward && runs.forward.empty() && !runs.backward.empty() && !runs.backward.front()->on_own_memory)
    report_effect(context, {Part::kBackward, runs.backward.front()->node},
                  "'" + runs.backward.front()->node + "' belongs to the forward but runs in the backward.");
  if (wants_backward && runs.backward.empty() && !runs.forward.empty())
    report_effect(context, {Part::kForward, runs.forward.front()->node},
                  "'" + runs.forward.front()->node + "' belongs to the backward but runs in the forward.");
}

void check_lost(PairContext& context, NodeId id) {
  const bool may_vanish = context.facts.effect_of(id) == Effect::kCollective && !context.facts.live[JointFacts::at(id)];
  if (may_vanish) return;
  report_effect(context, {Part::kJoint, context.facts.node(id).name},
                runs_text(id, context) + " has an effect, but neither the forward nor the backward runs it.");
}

/// Collectives of the backward that don't depend on a tangent run when they are needed, which PyTorch decides anew.
bool keeps_order(const JointFacts& facts, const Run& run) {
  if (!is_effect(facts, run.joint)) return false;
  const bool movable = facts.effect_of(run.joint) == Effect::kCollective && !facts.closure[JointFacts::at(run.joint)];
  return run.part == Part::kForward || !movable;
}

void check_effect_order(PairContext& context, Part part) {
  int32_t last = -1;
  const Run* before = nullptr;
  for (const Run& run : context.runs) {
    if (run.part != part || !keeps_order(context.facts, run)) continue;
    const int32_t position = context.facts.position[JointFacts::at(run.joint)];
    if (position < last)
      report_effect(context, {run.part, run.node},
                    "'" + run.node + "' runs after '" + before->node + "', but before it in the joint graph.");
    last = std::max(last, position);
    before = &run;
  }
}

}  // namespace

void check_draws(PairContext& context) {
  const std::vector<Runs> groups = group(context);
  for (const NodeId id : context.facts.order) {
    if (!context.facts.draws[JointFacts::at(id)]) continue;
    const Runs& runs = groups[JointFacts::at(id)];
    for (const auto* list : {&runs.forward, &runs.backward})
      for (size_t i = 1; i < list->size(); ++i) report_draw(context, *(*list)[i], "draws a second time in its part");
    if (runs.backward.empty()) continue;
    const Run& second = *runs.backward.front();
    if (runs.forward.empty()) {
      if (second.kind == RunKind::kReplayed) report_draw(context, second, "replays a draw that nobody made");
    } else if (!is_replayed(*runs.forward.front(), second)) {
      report_draw(context, second, "draws again what the forward has drawn, and gets other numbers");
    }
  }
  check_generators(context);
  check_draw_order(context);
}

void check_effects(PairContext& context) {
  const std::vector<Runs> groups = group(context);
  for (const NodeId id : context.facts.order) {
    if (!is_effect(context.facts, id)) continue;
    const Runs& runs = groups[JointFacts::at(id)];
    if (runs.forward.empty() && runs.backward.empty()) check_lost(context, id);
    check_repeated(context, id, runs);
    check_home(context, id, runs);
  }
  check_effect_order(context, Part::kForward);
  check_effect_order(context, Part::kBackward);
}

}  // namespace sapwood::check
