#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "interp/binding.h"

namespace sapwood::interp {

/// Who runs a graph, as far as its higher-order operators need to know.
class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  /// The result of a call node, which need not be in the graph; what it reads must be.
  virtual c10::IValue call(const graph::Node& node) = 0;
  /// The call with its arguments in place. Arguments `kNoNode` are left None.
  virtual BoundCall bind(const graph::Node& node) = 0;
  /// Runs a bound call.
  virtual c10::IValue invoke(const graph::Node& node, BoundCall call) = 0;
  /// The run-time value of an argument of `node`.
  virtual c10::IValue value(const graph::Argument& argument, const graph::Node& node) = 0;
  /// Runs the body of an operator with the symbols of the graph that calls it.
  virtual std::vector<c10::IValue> run_body(const graph::Graph& body, std::vector<c10::IValue> operands) = 0;
  virtual const graph::Graph& graph() const = 0;
};

/// Whether `call_higher_order` runs this operator.
bool is_higher_order(std::string_view target);

/// The result of a higher-order operator on the CPU, in the form in which PyTorch gives it.
///
/// | operator (`higher_order.`)       | first arguments                  | result                                     |
/// |----------------------------------|----------------------------------|--------------------------------------------|
/// | run_and_save_rng_state           | operator                         | (state before the call, result)            |
/// | run_with_rng_state               | state, operator                  | result; the CPU generator stays as it was  |
/// | graphsafe_run_with_rng_state     | operator; keyword rng_state      | result; only the generator given advances  |
/// | with_effects                     | token, operator                  | (token, results...)                        |
/// | auto_functionalized              | operator, all by keyword         | (results..., new values of what it mutates)|
/// | auto_functionalized_v2           | operator, by keyword, _all_bases | (results..., new values of the bases)      |
/// | invoke_subgraph                  | body, identifier                 | the body's outputs, as a tuple             |
///
/// The arguments behind these are those of the operator. Errors: user error, naming node and operator, for arguments
/// that lack one of these; what binding and running the operator throw.
c10::IValue call_higher_order(const graph::Node& node, NodeRunner& runner);

/// Of `higher_order.auto_functionalized` and `_v2`: the operator runs on copies of what it mutates.
c10::IValue call_auto_functionalized(const graph::Node& node, NodeRunner& runner);

}  // namespace sapwood::interp
