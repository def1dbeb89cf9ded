#pragma once

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// What the graph says, as calls on fixed tensors: schemas resolved, arguments bound, views made, out variants chosen.
/// Calls are in graph order.
///
/// Symbolic sizes take their hints. `node_values`, if given, receives for each node id the values of the node (one for
/// a tensor, several for a tuple or list, none for a number). Errors: unsupported, naming the node, for operators that
/// aren't registered, results without recorded sizes or that depend on data, layouts other than strided, devices other
/// than the CPU, and run-time numbers in places where none can go.
Program lower_graph(const graph::JointGraph& step, std::vector<std::vector<ValueId>>* node_values = nullptr);

}  // namespace sapwood::exec
