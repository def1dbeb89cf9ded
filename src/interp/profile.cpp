#include "interp/profile.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>

#include "graph/verify.h"
#include "interp/interpreter.h"

namespace sapwood::interp {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

constexpr int kRuns = 5;
constexpr uint64_t kSeed = 1;

void renumber(graph::Argument& argument, const std::unordered_map<NodeId, NodeId>& inputs) {
  const auto each = [&](graph::ArgumentList& items) {
    for (graph::Argument& item : items) renumber(item, inputs);
  };
  if (auto* node = argument.as<graph::NodeArg>()) node->id = inputs.at(node->id);
  if (auto* list = argument.as<graph::ListArg>()) each(list->items);
  if (auto* tuple = argument.as<graph::TupleArg>()) each(tuple->items);
  if (auto* slice = argument.as<graph::SliceArg>()) each(slice->bounds);
}

/// The call alone, what it reads as placeholders.
Graph isolated(const Graph& graph, NodeId id) {
  Graph alone;
  alone.name = graph[id].name;
  alone.symbols = graph.symbols;
  alone.ops = graph.ops;
  std::unordered_map<NodeId, NodeId> inputs;
  for (const NodeId input : graph.inputs(id))
    inputs.emplace(input, alone.placeholder(graph[input].name, graph[input].val));
  Node call = graph[id];
  call.users.clear();
  call.meta = {};
  for (graph::Argument& argument : call.args) renumber(argument, inputs);
  for (auto& [key, argument] : call.kwargs) renumber(argument, inputs);
  alone.output({alone.add(std::move(call))});
  return alone;
}

double measure(const Graph& alone) {
  const std::vector<c10::IValue> inputs = make_random_inputs(alone, kSeed);
  run(alone, inputs);  // warms caches and libraries
  std::vector<double> milliseconds;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run(alone, inputs);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    milliseconds.push_back(time.count());
  }
  std::ranges::sort(milliseconds);
  return milliseconds[milliseconds.size() / 2];
}

}  // namespace

std::function<double(const Graph&, NodeId)> measured_runtime() {
  return [known = std::make_shared<std::unordered_map<uint64_t, double>>()](const Graph& graph, NodeId id) {
    const Graph alone = isolated(graph, id);
    const uint64_t key = graph::structural_hash(alone);
    const auto found = known->find(key);
    return found != known->end() ? found->second : known->emplace(key, measure(alone)).first->second;
  };
}

}  // namespace sapwood::interp
