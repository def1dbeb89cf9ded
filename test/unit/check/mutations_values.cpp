// Wrong values: handed over, returned, computed.

#include <algorithm>

#include "graph/verify.h"
#include "unit/check/mutations.h"

namespace sapwood::test {
namespace {

using graph::Argument;
using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using Result = std::optional<Mutant>;

// --- What is handed over.

/// The backward reads another saved value of the same type instead.
Result drop_saved(const Subject& subject, Random& random) {
  const auto saved = handed_over(subject, false);
  const Graph& backward = subject.pair.backward;
  for (const size_t i : shuffled(saved.size(), random)) {
    for (const NodeId other : saved) {
      // Without readers nothing would change.
      if (other == saved[i] || backward[saved[i]].users.empty() || !same_type(backward[other], backward[saved[i]]))
        continue;
      const NodeId a = subject.joint.find(backward[saved[i]].name);
      const NodeId b = subject.joint.find(backward[other].name);
      if (!surely_different(subject.joint, a, b)) continue;
      Mutant mutant{subject.pair, "read " + backward[other].name + " for " + backward[saved[i]].name};
      mutant.pair.backward.replace_all_uses(saved[i], other);
      mutant.pair.backward.erase(saved[i]);
      drop_from_tail(mutant.pair, subject.user_outputs(), backward[saved[i]].name);
      return mutant;
    }
  }
  return std::nullopt;
}

/// What the forward hands over of one kind: now and then symbols, where there are some.
std::vector<NodeId> some_handed_over(const Subject& subject, Random& random) {
  const auto symbols = handed_over(subject, true);
  return symbols.empty() || random() % 4 != 0 ? handed_over(subject, false) : symbols;
}

Result drop_from_forward_only(const Subject& subject, Random& random) {
  const auto saved = some_handed_over(subject, random);
  if (saved.empty()) return std::nullopt;
  const std::string name = subject.pair.backward[saved[random() % saved.size()]].name;
  Mutant mutant{subject.pair, "forward doesn't return " + name};
  drop_from_tail(mutant.pair, subject.user_outputs(), name);
  return mutant;
}

Result swap_tail(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "swap in the forward: "};
  std::vector<NodeId> outputs = subject.pair.forward.output_values();
  for (const size_t i : shuffled(outputs.size(), random)) {
    for (size_t j = subject.user_outputs(); j < outputs.size(); ++j) {
      const Graph& forward = subject.pair.forward;
      // Symbols and tensors have places of their own: exchanging one with the other doesn't change the order of either.
      if (i < subject.user_outputs() || !surely_different(forward, outputs[i], outputs[j]) ||
          is_symbol(forward[outputs[i]]) != is_symbol(forward[outputs[j]]))
        continue;
      mutant.what += forward[outputs[i]].name + " and " + forward[outputs[j]].name;
      std::swap(outputs[i], outputs[j]);
      set_outputs(mutant.pair.forward, outputs);
      return mutant;
    }
  }
  return std::nullopt;
}

Result swap_inputs_of_backward(const Subject& subject, Random& random) {
  const auto saved = some_handed_over(subject, random);
  for (const size_t i : shuffled(saved.size(), random)) {
    if (i + 1 >= saved.size()) continue;
    const Graph& backward = subject.pair.backward;
    const NodeId a = subject.joint.find(backward[saved[i]].name);
    const NodeId b = subject.joint.find(backward[saved[i + 1]].name);
    if (!surely_different(subject.joint, a, b)) continue;
    Mutant mutant{subject.pair, "swap in the backward: " + backward[saved[i]].name};
    mutant.pair.backward.move_before(saved[i + 1], saved[i]);
    return mutant;
  }
  return std::nullopt;
}

Result change_type(const Subject& subject, Random& random) {
  const auto saved = handed_over(subject, false);
  for (const size_t i : shuffled(saved.size(), random)) {
    const graph::TensorMeta* tensor = subject.pair.backward[saved[i]].tensor();
    if (!tensor || tensor->dtype != graph::DType::kFloat32) continue;
    Mutant mutant{subject.pair, "another type: " + subject.pair.backward[saved[i]].name};
    graph::TensorMeta changed = *tensor;
    changed.dtype = graph::DType::kInt32;
    mutant.pair.backward.set_val(saved[i], graph::Value(changed));
    return mutant;
  }
  return std::nullopt;
}

/// A symbol is neither saved nor otherwise told. A symbol that is a size of another input is derived from it: dropping
/// it is no fault, so those are left alone.
Result unbind_symbol(const Subject& subject, Random& random) {
  const auto saved = handed_over(subject, true);
  for (const size_t i : shuffled(saved.size(), random)) {
    const Graph& backward = subject.pair.backward;
    const auto* size = backward[saved[i]].val->as<graph::SymIntValue>();
    if (!size || size->expr.op() != graph::SymOp::kSymbol) continue;
    bool derived = false;
    for (const NodeId id : backward.placeholders())
      if (const auto* tensor = backward[id].tensor())
        derived = derived || std::ranges::find(tensor->shape, size->expr) != tensor->shape.end();
    if (derived) continue;
    Mutant mutant{subject.pair, "unbound: " + backward[saved[i]].name};
    Graph& changed = mutant.pair.backward;
    for (const NodeId user : std::vector<NodeId>(changed[saved[i]].users)) {
      const auto pin = [&](auto&& self, Argument& argument) -> void {
        if (argument.as<graph::NodeArg>() && argument.as<graph::NodeArg>()->id == saved[i]) argument = Argument(7);
        if (auto* list = argument.as<graph::ListArg>())
          for (Argument& item : list->items) self(self, item);
      };
      graph::ArgumentList args = changed[user].args;
      for (Argument& argument : args) pin(pin, argument);
      changed.set_args(user, args);
    }
    if (!changed[saved[i]].users.empty()) continue;
    changed.erase(saved[i]);
    drop_from_tail(mutant.pair, subject.user_outputs(), backward[saved[i]].name);
    return mutant;
  }
  return std::nullopt;
}

// --- What is returned.

Result swap_outputs(const Subject& subject, Random& random, bool gradients) {
  Mutant mutant{subject.pair, "swap outputs: "};
  Graph& part = gradients ? mutant.pair.backward : mutant.pair.forward;
  std::vector<NodeId> outputs = part.output_values();
  const size_t count = gradients ? outputs.size() : subject.user_outputs();
  for (const size_t i : shuffled(count, random)) {
    for (const size_t j : shuffled(count, random)) {
      if (!surely_different(part, outputs[i], outputs[j])) continue;
      mutant.what += part[outputs[i]].name + " and " + part[outputs[j]].name;
      std::swap(outputs[i], outputs[j]);
      set_outputs(part, outputs);
      return mutant;
    }
  }
  return std::nullopt;
}

Result lose_gradient(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "None for a gradient"};
  std::vector<NodeId> outputs = subject.pair.backward.output_values();
  for (const size_t i : shuffled(outputs.size(), random)) {
    if (outputs[i] == kNoNode) continue;
    outputs[i] = kNoNode;
    set_outputs(mutant.pair.backward, outputs);
    return mutant;
  }
  return std::nullopt;
}

Result gradient_for_none(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "a gradient for None"};
  std::vector<NodeId> outputs = subject.pair.backward.output_values();
  const auto some = std::ranges::find_if(outputs, [](NodeId id) { return id != kNoNode; });
  for (const size_t i : shuffled(outputs.size(), random)) {
    if (outputs[i] != kNoNode || some == outputs.end()) continue;
    outputs[i] = *some;
    set_outputs(mutant.pair.backward, outputs);
    return mutant;
  }
  return std::nullopt;
}

Result drop_last_gradient(const Subject& subject, Random&) {
  Mutant mutant{subject.pair, "one gradient too few"};
  std::vector<NodeId> outputs = subject.pair.backward.output_values();
  outputs.pop_back();
  set_outputs(mutant.pair.backward, outputs);
  return mutant;
}

Result extra_gradient(const Subject& subject, Random&) {
  Mutant mutant{subject.pair, "one gradient too many"};
  std::vector<NodeId> outputs = subject.pair.backward.output_values();
  outputs.push_back(outputs.front());
  set_outputs(mutant.pair.backward, outputs);
  return mutant;
}

// --- What is computed.

Graph& some_part(Mutant& mutant, Random& random) { return random() % 2 ? mutant.pair.forward : mutant.pair.backward; }

/// A scalar argument gets another value.
Result change_constant(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "constant of "};
  Graph& part = some_part(mutant, random);
  for (const NodeId id : shuffled_calls(part, random)) {
    // Items of a tuple are numbered: another number may not exist.
    if (part[id].is_call("operator.getitem")) continue;
    graph::ArgumentList args = part[id].args;
    for (Argument& argument : args) {
      if (auto* whole = argument.as<int64_t>())
        ++*whole;
      else if (auto* real = argument.as<double>())
        *real = *real == 3.25 ? 1.5 : 3.25;
      else if (auto* truth = argument.as<bool>())
        *truth = !*truth;
      else
        continue;
      part.set_args(id, args);
      mutant.what += part[id].name;
      return mutant;
    }
  }
  return std::nullopt;
}

/// 1 becomes 1.0 or 1.0 becomes 1: the type of the result may depend on it.
Result change_constant_type(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "type of a constant of "};
  Graph& part = some_part(mutant, random);
  for (const NodeId id : shuffled_calls(part, random)) {
    if (!part[id].target.contains(".Scalar") && !part[id].target.contains(".Tensor")) continue;
    graph::ArgumentList args = part[id].args;
    for (Argument& argument : args) {
      const auto* whole = argument.as<int64_t>();
      const auto* real = argument.as<double>();
      if (!whole && (!real || *real != static_cast<double>(static_cast<int64_t>(*real)))) continue;
      argument = whole ? Argument(static_cast<double>(*whole)) : Argument(static_cast<int64_t>(*real));
      part.set_args(id, args);
      mutant.what += part[id].name;
      return mutant;
    }
  }
  return std::nullopt;
}

Result change_target(const Subject& subject, Random& random) {
  static const std::vector<std::pair<std::string, std::string>> kOthers = {
      {"aten.add.Tensor", "aten.sub.Tensor"},   {"aten.sub.Tensor", "aten.add.Tensor"},
      {"aten.mul.Tensor", "aten.div.Tensor"},   {"aten.div.Tensor", "aten.mul.Tensor"},
      {"aten.sin.default", "aten.cos.default"}, {"aten.rsqrt.default", "aten.sqrt.default"},
      {"aten.relu.default", "aten.neg.default"}};
  Mutant mutant{subject.pair, "operator of "};
  Graph& part = some_part(mutant, random);
  for (const NodeId id : shuffled_calls(part, random)) {
    const auto other = std::ranges::find(kOthers, part[id].target.str(), &std::pair<std::string, std::string>::first);
    if (other == kOthers.end()) continue;
    mutant.what += part[id].name;
    const std::string schema = "aten::" + other->second.substr(5) + "(Tensor self, Tensor other) -> Tensor";
    graph::OpDecl declared = part.ops.at(part[id].target);
    part.set_target(id, other->second);
    const bool unary = part[id].args.size() == 1;
    const std::string overload = other->second.substr(5, other->second.rfind('.') - 5);
    declared.schema = unary ? "aten::" + overload + "(Tensor self) -> Tensor" : schema;
    part.ops.try_emplace(other->second, declared);
    return mutant;
  }
  return std::nullopt;
}

/// An argument is replaced by another value of the same type that is there already.
Result rewire(const Subject& subject, Random& random) {
  Mutant mutant{subject.pair, "rewire "};
  Graph& part = some_part(mutant, random);
  const std::vector<NodeId> order = part.order();
  for (const NodeId id : shuffled_calls(part, random)) {
    graph::ArgumentList args = part[id].args;
    for (Argument& argument : args) {
      auto* read = argument.as<graph::NodeArg>();
      if (!read) continue;
      for (const NodeId other : order) {
        if (other == id) break;
        if (!same_type(part[other], part[read->id]) || !surely_different(part, other, read->id)) continue;
        // An input of the backward may be named after a value that is computed there too.
        if (!surely_different(subject.joint, subject.joint.find(part[other].name),
                              subject.joint.find(part[read->id].name)))
          continue;
        mutant.what += part[id].name + " from " + part[read->id].name + " to " + part[other].name;
        const graph::ArgumentList old = part[id].args;
        read->id = other;
        part.set_args(id, args);
        // A node tagged forward that reads a gradient is convicted for its tag alone: too easy.
        if (graph::verify(part).empty()) return mutant;
        part.set_args(id, old);
        return std::nullopt;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Mutation> handover_mutations() {
  return {
      {"drop a saved value", {"node-from-joint", "outputs-equal"}, drop_saved},
      {"drop a saved value in the forward", {"backward-input-exists"}, drop_from_forward_only},
      {"swap saved values in the forward", {"backward-input-exists"}, swap_tail},
      {"swap saved values in the backward", {"backward-input-exists"}, swap_inputs_of_backward},
      {"change the type of a saved value", {"backward-input-exists"}, change_type},
      {"unbind a symbol", {"symbols-bound", "node-from-joint"}, unbind_symbol},
  };
}

std::vector<Mutation> output_mutations() {
  return {
      {"swap user outputs", {"outputs-equal"}, [](const Subject& s, Random& r) { return swap_outputs(s, r, false); }},
      {"swap gradients", {"outputs-equal"}, [](const Subject& s, Random& r) { return swap_outputs(s, r, true); }},
      {"lose a gradient", {"outputs-equal"}, lose_gradient},
      {"a gradient for None", {"outputs-equal"}, gradient_for_none},
      {"one gradient too few", {"outputs-equal"}, drop_last_gradient},
      {"one gradient too many", {"outputs-equal"}, extra_gradient},
  };
}

std::vector<Mutation> node_mutations() {
  return {
      {"change a constant", {"node-from-joint", "outputs-equal", "random-once"}, change_constant},
      {"change the type of a constant", {"node-from-joint", "outputs-equal"}, change_constant_type},
      {"change an operator", {"node-from-joint", "outputs-equal"}, change_target},
      {"rewire an argument", {"node-from-joint", "outputs-equal"}, rewire},
  };
}

}  // namespace sapwood::test
