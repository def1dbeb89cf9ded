// Random numbers, collectives, writes.

#include <algorithm>
#include <set>

#include "ops/op_table.h"
#include "unit/check/mutations.h"

namespace sapwood::test {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using Result = std::optional<Mutant>;

constexpr int kMostCopies = 40;

bool draws(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  return node.kind == graph::NodeKind::kCallFunction && ops::draws_numbers(ops::describe(graph, node), node);
}

bool is_collective(const Graph& graph, NodeId id) {
  const std::string& target = graph[id].target;
  return target.starts_with("_c10d_functional.") && target.find("wait_tensor") == std::string::npos;
}

bool is_write(const Graph& graph, NodeId id) { return graph[id].is_call("aten.copy_.default"); }

/// Calls of the forward for which `wanted` holds, in random order.
template <typename Wanted>
std::vector<NodeId> some(const Graph& graph, Random& random, const Wanted& wanted) {
  std::vector<NodeId> found = shuffled_calls(graph, random);
  std::erase_if(found, [&](NodeId id) { return !wanted(graph, id); });
  return found;
}

/// Whether recomputing a value from what the backward gets would run a forbidden node again, at a bearable size.
template <typename Forbidden>
bool reaches(const GraphPair& pair, NodeId source, const Forbidden& forbidden) {
  std::vector<NodeId> pending = {source};
  std::set<NodeId> seen;
  bool found = false;
  while (!pending.empty() && seen.size() <= kMostCopies) {
    const NodeId id = pending.back();
    pending.pop_back();
    const bool is_there = id != source && pair.backward.find(pair.forward[id].name) != kNoNode;
    if (is_there || !seen.insert(id).second) continue;
    found = found || forbidden(pair.forward, id);
    for (const NodeId read : pair.forward.inputs(id)) pending.push_back(read);
  }
  return found && pending.empty();
}

/// Recomputes a saved value in the backward in place of saving it, together with a node that mustn't run again.
template <typename Forbidden>
Result recompute_across(const Subject& subject, Random& random, const Forbidden& forbidden) {
  const auto saved = handed_over(subject, false);
  for (const size_t i : shuffled(saved.size(), random)) {
    const std::string name = subject.pair.backward[saved[i]].name;
    const NodeId source = subject.pair.forward.find(name);
    if (!reaches(subject.pair, source, forbidden)) continue;
    Mutant mutant{subject.pair, "recompute " + name};
    Graph& backward = mutant.pair.backward;
    const std::vector<NodeId> order = backward.order();
    const auto& users = backward[saved[i]].users;
    const auto before =
        std::ranges::find_if(order, [&](NodeId id) { return std::ranges::find(users, id) != users.end(); });
    if (before == order.end()) continue;
    backward.rename(saved[i], "taken_out");
    int limit = kMostCopies;
    const auto copy = recompute(mutant.pair, name, *before, limit);
    if (!copy) continue;
    backward.replace_all_uses(saved[i], *copy);
    backward.erase(saved[i]);
    drop_from_tail(mutant.pair, subject.user_outputs(), name);
    const bool runs_again = std::ranges::any_of(backward.order(), [&](NodeId id) {
      return forbidden(backward, id) && mutant.pair.forward.find(backward[id].name) != kNoNode;
    });
    if (runs_again) return mutant;
  }
  return std::nullopt;
}

Result draw_in_other_order(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "draw earlier: "};
  Graph& forward = mutant.pair.forward;
  NodeId before = kNoNode;
  for (const NodeId id : forward.order()) {
    if (!draws(forward, id)) continue;
    // What reads nothing can move.
    if (before != kNoNode && forward.inputs(id).empty() && random() % 3 != 0) {
      mutant.what += forward[id].name;
      forward.move_before(id, before);
      return mutant;
    }
    before = id;
  }
  return std::nullopt;
}

/// One reader gets numbers of its own.
Result draw_twice_in_forward(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "draw twice: "};
  Graph& forward = mutant.pair.forward;
  for (const NodeId id : some(forward, random, draws)) {
    mutant.what += forward[id].name;
    duplicate(forward, id);
    return mutant;
  }
  return std::nullopt;
}

std::vector<NodeId> replays(const Graph& backward, Random& random) {
  return some(backward, random,
              [](const Graph& graph, NodeId id) { return graph[id].is_call("higher_order.run_with_rng_state"); });
}

/// Attention without dropout may be wrapped too, but doesn't draw.
bool replay_draws(const Graph& graph, NodeId id) {
  Node inner = graph[id];
  inner.target = inner.args[1].as<graph::OperatorArg>()->name;
  inner.args.erase(inner.args.begin(), inner.args.begin() + 2);
  return ops::draws_numbers(ops::describe(graph, inner), inner);
}

Result forget_state(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "no state for "};
  Graph& backward = mutant.pair.backward;
  for (const NodeId id : replays(backward, random)) {
    if (!replay_draws(backward, id)) continue;
    mutant.what += backward[id].name;
    const std::string target = backward[id].args[1].as<graph::OperatorArg>()->name;
    graph::ArgumentList args(backward[id].args.begin() + 2, backward[id].args.end());
    backward.set_target(id, target);
    backward.set_args(id, args);
    backward.ops.insert(*subject.joint.ops.find(target));
    return mutant;
  }
  return std::nullopt;
}

Result state_of_another(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "another state for "};
  Graph& backward = mutant.pair.backward;
  const auto found = replays(backward, random);
  for (const NodeId id : found) {
    if (!replay_draws(backward, id)) continue;
    for (const NodeId other : found) {
      graph::ArgumentList args = backward[id].args;
      if (args[0] == backward[other].args[0]) continue;
      args[0] = backward[other].args[0];
      mutant.what += backward[id].name;
      backward.set_args(id, args);
      return mutant;
    }
  }
  return std::nullopt;
}

Result replay_from_something(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "no state at all for "};
  Graph& backward = mutant.pair.backward;
  for (const NodeId id : replays(backward, random)) {
    if (!replay_draws(backward, id)) continue;
    graph::ArgumentList args = backward[id].args;
    args[0] = Argument::node(backward.placeholders().front());  // a saved value
    mutant.what += backward[id].name;
    backward.set_args(id, args);
    return mutant;
  }
  return std::nullopt;
}

template <typename Wanted>
Result twice_in_forward(const Subject& subject, Random& random, const Wanted& wanted) {
  Mutant mutant{subject.pair, "twice: "};
  for (const NodeId id : some(mutant.pair.forward, random, wanted)) {
    mutant.what += mutant.pair.forward[id].name;
    duplicate(mutant.pair.forward, id);
    return mutant;
  }
  return std::nullopt;
}

/// The collective's operand goes on as if it were the result.
Result lose_collective(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "lost: "};
  Graph& part = random() % 2 ? mutant.pair.forward : mutant.pair.backward;
  for (const NodeId id : some(part, random, is_collective)) {
    mutant.what += part[id].name;
    part.replace_all_uses(id, part.inputs(id).front());
    part.erase(id);
    return mutant;
  }
  return std::nullopt;
}

Result lose_write(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "lost: "};
  for (const NodeId id : some(mutant.pair.forward, random, is_write)) {
    if (!mutant.pair.forward[id].users.empty()) continue;
    mutant.what += mutant.pair.forward[id].name;
    mutant.pair.forward.erase(id);
    return mutant;
  }
  return std::nullopt;
}

/// Writes in the backward what the forward writes, with both operands handed over.
Result write_in_backward(const Subject& subject, Random& random, bool also_in_forward) {
  Mutant mutant{subject.pair, "in the backward: "};
  for (const NodeId id : some(subject.pair.forward, random, is_write)) {
    const Node node = subject.pair.forward[id];
    if (!node.users.empty()) continue;
    mutant.what += node.name;
    graph::ArgumentList args;
    for (const Argument& argument : node.args)
      args.push_back(
          Argument::node(hand_over(mutant.pair, subject.pair.forward[argument.as<graph::NodeArg>()->id].name)));
    Graph& backward = mutant.pair.backward;
    backward.set_insertion_point(backward.output());
    backward.call(node.target, args, node.val, node.name);
    backward.ops.insert(*subject.joint.ops.find(node.target));
    if (!also_in_forward) mutant.pair.forward.erase(mutant.pair.forward.find(node.name));
    return mutant;
  }
  return std::nullopt;
}

/// Two writes to different buffers change places.
Result write_in_other_order(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "write earlier: "};
  Graph& forward = mutant.pair.forward;
  NodeId before = kNoNode;
  for (const NodeId id : forward.order()) {
    if (!is_write(forward, id)) continue;
    // The value is computed between the two writes unless they stand side by side.
    if (before != kNoNode && forward[id].prev == before && random() % 3 != 0) {
      mutant.what += forward[id].name;
      forward.move_before(id, before);
      return mutant;
    }
    before = id;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Mutation> random_mutations() {
  const std::vector<std::string> state_rules = {"random-once", "node-from-joint", "outputs-equal"};
  return {
      {"draw again in the backward",
       {"random-once"},
       [](const Subject& s, Random& r) { return recompute_across(s, r, draws); }},
      {"draw in another order", {"random-once"}, draw_in_other_order},
      {"draw twice in the forward", {"random-once"}, draw_twice_in_forward},
      {"forget a generator state", {"random-once"}, forget_state},
      {"replay from another state", state_rules, state_of_another},
      {"replay from no state", {"random-once"}, replay_from_something},
  };
}

std::vector<Mutation> effect_mutations() {
  return {
      {"recompute a collective",
       {"effect-once"},
       [](const Subject& s, Random& r) { return recompute_across(s, r, is_collective); }},
      {"communicate twice",
       {"effect-once"},
       [](const Subject& s, Random& r) { return twice_in_forward(s, r, is_collective); }},
      {"lose a collective", {"effect-once"}, lose_collective},
      {"write twice", {"effect-once"}, [](const Subject& s, Random& r) { return twice_in_forward(s, r, is_write); }},
      {"lose a write", {"effect-once"}, lose_write},
      {"write again in the backward",
       {"effect-once"},
       [](const Subject& s, Random& r) { return write_in_backward(s, r, true); }},
      {"write in the backward instead",
       {"effect-once"},
       [](const Subject& s, Random& r) { return write_in_backward(s, r, false); }},
      {"write in another order", {"effect-once"}, write_in_other_order},
  };
}

}  // namespace sapwood::test
