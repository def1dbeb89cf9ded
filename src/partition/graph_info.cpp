#include "partition/graph_info.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace sapwood::partition {
namespace {

using Edges = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kOutput = "output";

/// Per candidate, from the map or from the list.
std::unordered_map<std::string, double> by_name(const std::vector<std::string>& candidates,
                                                const std::optional<std::unordered_map<std::string, double>>& map,
                                                const std::vector<double>& recorded, const std::string& what) {
  if (map) return *map;
  if (recorded.size() != candidates.size()) {
    throw_user("partition", "the " + what +
                                " of the candidates are unknown: give them as a map of all nodes, or as a " +
                                "list with one entry per candidate");
  }
  std::unordered_map<std::string, double> values;
  for (size_t i = 0; i < candidates.size(); ++i) values.emplace(candidates[i], recorded[i]);
  return values;
}

/// Places of names, and successors by place.
class Successors {
 public:
  explicit Successors(const NameGraph& graph) : next_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) place_.emplace(graph.nodes[i], i);
    for (const auto& [from, to] : graph.edges) next_[place_.at(from)].push_back(place_.at(to));
  }
  size_t place(const std::string& name) const { return place_.at(name); }
  const std::vector<size_t>& of(size_t place) const { return next_[place]; }
  size_t size() const { return next_.size(); }

 private:
  std::unordered_map<std::string, size_t> place_;
  std::vector<std::vector<size_t>> next_;
};

/// Candidates that can be reached from each candidate, as bits; rows in topological order of the candidates.
class Reachability {
 public:
  Reachability(const Successors& next, const std::vector<size_t>& candidates)
      : words_((candidates.size() + kBits - 1) / kBits), bits_(next.size() * words_, 0) {
    std::vector<size_t> number(next.size(), candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) number[candidates[i]] = i;
    for (size_t place = next.size(); place-- > 0;) {
      for (const size_t user : next.of(place)) {
        for (size_t w = 0; w < words_; ++w) row(place)[w] |= row(user)[w];
        if (number[user] < candidates.size()) set(place, number[user]);
      }
    }
  }
  bool reaches(size_t place, size_t candidate) const {
    return bits_[place * words_ + candidate / kBits] >> (candidate % kBits) & 1;
  }

 private:
  static constexpr size_t kBits = 64;
  uint64_t* row(size_t place) { return bits_.data() + place * words_; }
  void set(size_t place, size_t candidate) { row(place)[candidate / kBits] |= uint64_t{1} << (candidate % kBits); }

  size_t words_;
  std::vector<uint64_t> bits_;
};

}  // namespace

GraphInfo::GraphInfo(GraphInfoInput input)
    : input_(std::move(input)),
      memories_(by_name(input_.candidates, input_.memories, input_.recorded_memories, "memories")),
      runtimes_(by_name(input_.candidates, input_.runtimes, input_.recorded_runtimes, "runtimes")) {}

GraphInfo GraphInfo::from_joint(const JointView& view, const std::vector<graph::NodeId>& candidates,
                                const std::vector<double>& memories, const std::vector<double>& runtimes) {
  GraphInfoInput input;
  for (const graph::NodeId id : view.order) {
    input.graph.nodes.push_back(view.node(id).name);
    for (const graph::NodeId user : view.users_of(id))
      input.graph.edges.emplace_back(view.node(id).name, view.node(user).name);
  }
  for (const graph::NodeId id : candidates) input.candidates.push_back(view.node(id).name);
  input.recorded_memories = memories;
  input.recorded_runtimes = runtimes;
  return GraphInfo(std::move(input));
}

double GraphInfo::total_memory() const {
  double sum = 0;
  for (const std::string& name : input_.candidates) sum += memory(name);
  return sum;
}

double GraphInfo::total_runtime() const {
  double sum = 0;
  for (const std::string& name : input_.candidates) sum += runtime(name);
  return sum;
}

std::vector<double> GraphInfo::knapsack_memory() const {
  if (!input_.recorded_memories.empty()) return input_.recorded_memories;
  std::vector<double> values;
  for (const std::string& name : input_.candidates) values.push_back(memory(name));
  return values;
}

std::vector<double> GraphInfo::knapsack_runtime() const {
  if (!input_.recorded_runtimes.empty()) return input_.recorded_runtimes;
  std::vector<double> values;
  for (const std::string& name : input_.candidates) values.push_back(runtime(name));
  return values;
}

NameGraph GraphInfo::candidate_graph() const {
  const std::unordered_set<std::string> candidates(input_.candidates.begin(), input_.candidates.end());
  NameGraph graph;
  graph.nodes = input_.candidates;
  for (const auto& [from, to] : input_.graph.edges)
    if (candidates.contains(from) && candidates.contains(to)) graph.edges.emplace_back(from, to);
  return graph;
}

NameGraph GraphInfo::candidate_graph_with_context() const {
  const NameGraph full = full_graph();
  const Successors next(full);
  std::vector<size_t> places;
  for (const std::string& name : input_.candidates) places.push_back(next.place(name));
  std::ranges::sort(places);
  const Reachability reach(next, places);
  NameGraph graph;
  for (const size_t place : places) graph.nodes.push_back(full.nodes[place]);
  for (size_t a = 0; a < places.size(); ++a) {
    for (size_t b = a + 1; b < places.size(); ++b) {
      if (!reach.reaches(places[a], b)) continue;
      bool implied = false;
      for (size_t c = a + 1; c < b && !implied; ++c)
        implied = reach.reaches(places[a], c) && reach.reaches(places[c], b);
      if (!implied) graph.edges.emplace_back(graph.nodes[a], graph.nodes[b]);
    }
  }
  return graph;
}

NameGraph GraphInfo::full_graph() const {
  NameGraph graph;
  for (const std::string& name : input_.graph.nodes)
    if (name != kOutput) graph.nodes.push_back(name);
  for (const auto& edge : input_.graph.edges)
    if (edge.first != kOutput && edge.second != kOutput) graph.edges.push_back(edge);
  return graph;
}

graph::Graph GraphInfo::pseudo_graph() const {
  graph::Graph graph;
  std::unordered_map<std::string, std::vector<std::string>> inputs;
  const std::unordered_set<std::string> known(input_.graph.nodes.begin(), input_.graph.nodes.end());
  for (const auto& [from, to] : input_.graph.edges) {
    if (!known.contains(from) || !known.contains(to))
      throw_user("partition", "the edge from '" + from + "' to '" + to + "' names a node that the graph doesn't have");
    inputs[to].push_back(from);
  }
  for (const std::string& name : input_.graph.nodes) {
    graph::ArgumentList arguments;
    for (const std::string& input : inputs[name]) arguments.push_back(graph::Argument::node(graph.find(input)));
    if (arguments.empty()) {
      graph.placeholder(name, std::nullopt);
    } else {
      graph.call("operator.identity", std::move(arguments), std::nullopt, name);
    }
  }
  return graph;
}

}  // namespace sapwood::partition
