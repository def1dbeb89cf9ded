#pragma once

#include <string>
#include <string_view>

#include "partition/plan.h"

namespace sapwood::partition {

/// A plan as JSON (`sapwood.plan/1`), with all that is needed to use it again: the graph's hash and size, the options
/// that differ from their defaults, and every value by name with bytes, reason and price. `joint` is the graph as
/// `partition` left it.
std::string print_plan(const graph::Graph& joint, const Plan& plan, const PartitionOptions& options);

/// A plan and the options that it was made with.
struct PinnedPlan {
  Plan plan;
  PartitionOptions options;
};

/// Reads a plan back for a joint graph, which is brought into the form that the plan speaks of (dead nodes and common
/// subexpressions go, as when the plan was made). Input may be hostile. Errors: user error for what isn't such JSON,
/// for a graph that isn't the plan's any more, and for a name that the graph doesn't have.
PinnedPlan read_plan(std::string_view text, graph::Graph& joint);

/// The difference of two plans (both as JSON) in sentences, one per line: what only one of them saves or recomputes,
/// and the bytes. Empty if there is none. Errors: user error for what isn't a plan.
std::string diff_plans(std::string_view before, std::string_view after);

}  // namespace sapwood::partition
