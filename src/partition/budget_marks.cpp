#include <set>

#include "base/error.h"
#include "partition/budget.h"

namespace sapwood::partition {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

constexpr std::string_view kStage = "partition";

/// What the regions of a graph, and of the bodies of its higher-order operators, ask for.
struct RegionMarks {
  std::set<double> budgets;
  std::vector<std::string> unmarked;  ///< calls of the forward without a mark
};

void check_range(double budget, const Node& node) {
  if (budget >= 0 && budget <= 1) return;
  throw_user(kStage, "'" + node.name + "' is annotated with a memory budget of " + std::to_string(budget) +
                         "; it must be from 0 to 1");
}

void add_mark(const Node& node, bool counts, RegionMarks& marks) {
  if (node.meta->region_memory_budget) {
    check_range(*node.meta->region_memory_budget, node);
    marks.budgets.insert(*node.meta->region_memory_budget);
  } else if (node.kind == NodeKind::kCallFunction && counts) {
    marks.unmarked.push_back(node.name);
  }
}

void add_bodies(const Graph& graph, RegionMarks& marks) {
  for (const auto& [name, body] : graph.subgraphs) {
    if (!body) continue;
    for (const NodeId id : body->order()) add_mark((*body)[id], true, marks);
    add_bodies(*body, marks);
  }
}

std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

}  // namespace

double resolve_budget(const JointView& view, const Classification& classes, const PartitionOptions& options) {
  double budget = options.activation_memory_budget;
  for (const NodeId id : view.order) {
    const auto& mark = view.node(id).meta->memory_budget;
    // PyTorch overlooks a budget that is written as an integer.
    if (!mark || (mark->is_integer && options.compatibility == Compatibility::kTorch213)) continue;
    check_range(mark->value, view.node(id));
    budget = mark->value;
    break;
  }
  RegionMarks marks;
  for (const NodeId id : view.order) add_mark(view.node(id), classes.is_forward(id), marks);
  add_bodies(*view.graph, marks);
  if (marks.budgets.empty()) return budget;
  if (marks.budgets.size() > 1) {
    std::string all;
    for (const double one : marks.budgets) all += (all.empty() ? "" : ", ") + std::to_string(one);
    throw_user(kStage, "regions of one graph ask for different memory budgets (" + all +
                           "); a graph has one budget: split the graph between the regions");
  }
  if (!marks.unmarked.empty()) {
    throw_user(kStage, "a memory budget covers a part of the forward only: " + std::to_string(marks.unmarked.size()) +
                           " calls are outside (" + listed(marks.unmarked) +
                           "); put the whole forward into one region, or split the graph at its ends");
  }
  return *marks.budgets.begin();
}

}  // namespace sapwood::partition
