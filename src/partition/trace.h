#pragma once

#include <string>

#include "partition/budget.h"
#include "partition/plan.h"

namespace sapwood::partition {

/// How a decision under a memory budget came about, as JSON with the keys of PyTorch's artifact `min_cut_information`,
/// so that tools that read one read the other. Without a knapsack its lists are empty. `joint` and `decision` are as
/// `partition` left them.
std::string trace_json(const graph::Graph& joint, const Decision& decision);

/// For people who debug a plan, several lines: bytes that are kept, by size; how many calls forward, backward and both
/// have; which operators are repeated most.
std::string debug_report(const graph::Graph& joint, const Plan& plan);

/// Every minimum cut that was solved, a line each: its rules, its value, what it saves.
std::string describe_solves(const graph::Graph& joint, const Decision& decision);

}  // namespace sapwood::partition
