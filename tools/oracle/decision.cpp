#include "oracle/decision.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "partition/budget.h"
#include "partition/partition.h"

namespace sapwood::oracle {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using nlohmann::json;
using Names = std::vector<std::string>;

constexpr double kTolerance = 1e-9;

/// Remembers the first difference it is shown.
class Differences {
 public:
  bool found() const { return !first_.empty(); }
  const std::string& first() const { return first_; }

  void lists(const std::string& what, const Names& ours, const Names& recorded) {
    if (found() || ours == recorded) return;
    size_t i = 0;
    while (i < ours.size() && i < recorded.size() && ours[i] == recorded[i]) ++i;
    const auto item = [&](const Names& names) { return i < names.size() ? names[i] : std::string("nothing"); };
    first_ = what + " differ at place " + std::to_string(i) + ": ours has " + item(ours) + ", PyTorch's " +
             item(recorded) + " (" + std::to_string(ours.size()) + " and " + std::to_string(recorded.size()) +
             " in all)";
  }

  void numbers(const std::string& what, double ours, double recorded) {
    if (found() || std::abs(ours - recorded) <= kTolerance * std::abs(recorded)) return;
    first_ = what + " is " + std::to_string(ours) + ", PyTorch's " + std::to_string(recorded);
  }

 private:
  std::string first_;
};

Names names_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  Names names;
  for (const NodeId id : nodes) names.push_back(id == kNoNode ? "None" : graph[id].name);
  return names;
}

Names names_of(const Graph& graph, const std::vector<partition::SavedValue>& values) {
  Names names;
  for (const partition::SavedValue& value : values) names.push_back(graph[value.node].name);
  return names;
}

/// Of a recorded list, in which null stands for None.
Names recorded_names(const json& list) {
  Names names;
  for (const json& item : list) names.push_back(item.is_null() ? "None" : item.get<std::string>());
  return names;
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string node_text(const std::string& name, const std::string& op, const std::string& target, const Names& inputs) {
  return name + " = " + op + " " + target + "(" + joined(inputs) + ")";
}

std::string_view kind_name(graph::NodeKind kind) {
  switch (kind) {
    case graph::NodeKind::kPlaceholder:
      return "placeholder";
    case graph::NodeKind::kGetAttr:
      return "get_attr";
    case graph::NodeKind::kCallFunction:
      return "call_function";
    case graph::NodeKind::kOutput:
      return "output";
  }
  return "";
}

/// A line per node; the output is compared apart.
Names our_nodes(const Graph& part) {
  Names lines;
  for (const NodeId id : part.order()) {
    const Node& node = part[id];
    if (node.kind == graph::NodeKind::kOutput) continue;
    lines.push_back(node_text(node.name, std::string(kind_name(node.kind)), node.target,
                              names_of(part, part.inputs(id))));
  }
  return lines;
}

/// What the joint graph's node of that name reads stands where a record leaves the inputs out.
Names recorded_nodes(const Graph& joint, const json& nodes) {
  Names lines;
  for (const json& node : nodes) {
    const std::string op = node.at("op");
    if (op == "output") continue;
    const std::string name = node.at("name");
    const NodeId id = joint.find(name);
    Names inputs;
    if (node.contains("inputs")) {
      inputs = recorded_names(node.at("inputs"));
    } else if (op != "placeholder" && id != kNoNode) {
      inputs = names_of(joint, joint.inputs(id));
    }
    lines.push_back(node_text(name, op, node.at("target"), inputs));
  }
  return lines;
}

void compare_parts(const Graph& joint, const partition::ForwardBackward& parts, const json& decision,
                   Differences& differences) {
  differences.lists("inputs of the backward", names_of(parts.backward, parts.backward.placeholders()),
                    recorded_names(decision.at("backward_inputs")));
  differences.lists("outputs of the forward", names_of(parts.forward, parts.forward.output_values()),
                    recorded_names(decision.at("forward_outputs")));
  differences.lists("outputs of the backward", names_of(parts.backward, parts.backward.output_values()),
                    recorded_names(decision.at("backward_outputs")));
  differences.lists("nodes of the forward", our_nodes(parts.forward),
                    recorded_nodes(joint, decision.at("forward")));
  differences.lists("nodes of the backward", our_nodes(parts.backward),
                    recorded_nodes(joint, decision.at("backward")));
}

void compare_solves(const Graph& joint, const partition::Decision& how, const json& recorded,
                    Differences& differences) {
  differences.numbers("the number of minimum cuts", static_cast<double>(how.solves.size()),
                      static_cast<double>(recorded.size()));
  for (size_t i = 0; i < std::min(how.solves.size(), recorded.size()); ++i) {
    const partition::SolveRecord& solve = how.solves[i];
    const std::string which = " of cut " + std::to_string(i + 1);
    Names released = names_of(joint, solve.released);
    Names dont_ban = recorded_names(recorded[i].at("dont_ban"));
    std::ranges::sort(released);
    std::ranges::sort(dont_ban);
    differences.lists("released values" + which, released, dont_ban);
    differences.lists("bans" + which, names_of(joint, solve.banned), recorded_names(recorded[i].at("banned")));
    differences.numbers("the value" + which, static_cast<double>(solve.cut_value),
                        recorded[i].at("cut_value").get<double>());
    differences.lists("saved values" + which, names_of(joint, solve.saved), recorded_names(recorded[i].at("saved")));
  }
}

void compare_knapsack(const Graph& joint, const partition::Decision& how, const json& recorded,
                      Differences& differences) {
  differences.numbers("whether there is a knapsack", how.knapsack ? 1 : 0, recorded.is_null() ? 0 : 1);
  if (!how.knapsack || recorded.is_null()) return;
  const partition::KnapsackRecord& ours = *how.knapsack;
  differences.lists("candidates", names_of(joint, ours.candidates), recorded_names(recorded.at("candidates")));
  const auto texts = [](const auto& numbers) {
    Names list;
    for (const auto& number : numbers) list.push_back(json(number).dump());
    return list;
  };
  differences.lists("memories", texts(ours.problem.memory), texts(recorded.at("memory").get<std::vector<double>>()));
  differences.lists("runtimes", texts(ours.problem.runtime),
                    texts(recorded.at("runtime").get<std::vector<double>>()));
  differences.lists("kept candidates", texts(ours.choice.saved),
                    texts(recorded.at("save").get<std::vector<int32_t>>()));
}

/// PyTorch drops values that its solver returns as 0.9999999. Ours must fit, and keep at least as much.
Comparison judge_ilp(const partition::Decision& how, const json& recorded) {
  if (recorded.is_null() || !how.knapsack) return {};
  const partition::KnapsackRecord& ours = *how.knapsack;
  double memory = 0;
  for (const int32_t item : ours.choice.saved) memory += ours.problem.memory[static_cast<size_t>(item)];
  if (memory > ours.problem.max_memory * (1 + kTolerance))
    return {Verdict::kDifferent, "the choice holds " + std::to_string(memory) + ", the limit is " +
                                     std::to_string(ours.problem.max_memory)};
  double best = partition::exact_knapsack(ours.problem).runtime;
  double theirs = 0;
  const auto runtime = recorded.at("runtime").get<std::vector<double>>();
  for (const json& item : recorded.at("save")) theirs += runtime.at(item.get<size_t>());
  best = std::max(best, theirs);
  if (ours.choice.runtime < best * (1 - kTolerance))
    return {Verdict::kDifferent, "the choice keeps a runtime of " + std::to_string(ours.choice.runtime) + ", " +
                                     std::to_string(best) + " is possible"};
  return {Verdict::kOptimal, ""};
}

bool is_ilp(const json& decision) {
  const json& options = decision.at("config").at("functorch");
  return options.value("activation_memory_budget_solver", "") == "ilp" && !decision.value("knapsack", json()).is_null();
}

}  // namespace

partition::PartitionOptions recorded_options(const json& config) {
  partition::PartitionOptions options;
  options.compatibility = partition::Compatibility::kTorch213;
  options.method =
      config.at("partitioner") == "default" ? partition::Method::kDefault : partition::Method::kMinCut;
  for (const auto& [name, value] : config.at("functorch").items()) {
    const partition::OptionRow* row = partition::find_option(name);
    if (!row) throw_user("parity", "the record sets the option '" + name + "', which isn't known here");
    partition::set_option(options, *row, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return options;
}

std::string configuration_name(const json& config) {
  std::string name = config.at("partitioner");
  for (const auto& [key, value] : config.at("functorch").items())
    name += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  if (config.value("compiler", json()).is_string() && config.at("compiler") != "inductor")
    name += " compiler=" + config.at("compiler").get<std::string>();
  return name;
}

namespace {

/// Where PyTorch failed, ours must work or refuse in a sentence.
Comparison without_record(const Graph& joint, const json& decision) {
  try {
    Graph copy = joint;
    partition::extract(copy, partition::partition(copy, recorded_options(decision.at("config"))));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kInternal) return {Verdict::kDifferent, error.what()};
  }
  return {Verdict::kNotRecorded, ""};
}

}  // namespace

Comparison compare(const Graph& joint, const json& decision, bool deep) {
  if (!decision.at("ok").get<bool>()) return without_record(joint, decision);
  Graph copy = joint;
  partition::Decision how;
  const partition::Plan plan = partition::partition(copy, recorded_options(decision.at("config")), &how);
  const partition::ForwardBackward parts = partition::extract(copy, plan);
  if (is_ilp(decision)) return judge_ilp(how, decision.at("knapsack"));
  Differences differences;
  if (deep && decision.contains("solves")) compare_solves(joint, how, decision.at("solves"), differences);
  if (deep && decision.contains("knapsack")) compare_knapsack(joint, how, decision.at("knapsack"), differences);
  differences.lists("saved values", names_of(copy, plan.saved), recorded_names(decision.at("saved")));
  differences.lists("saved symbols", names_of(copy, plan.saved_symbols), recorded_names(decision.at("saved_sym")));
  compare_parts(joint, parts, decision, differences);
  return {differences.found() ? Verdict::kDifferent : Verdict::kEqual, differences.first()};
}

}  // namespace sapwood::oracle
