#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string>
#include <vector>

namespace sapwood::capture {

/// How an operator that writes its arguments is said without writing.
struct FunctionalForm {
  c10::OperatorHandle op;         ///< the operator that returns what would have been written
  std::vector<size_t> arguments;  ///< which arguments of the mutating call it takes, in its order
  std::vector<size_t> written;    ///< argument that result i is the new value of
};

/// Arguments that the schema says are written (`Tensor(a!)`), in order.
std::vector<size_t> written_arguments(const c10::FunctionSchema& schema);

/// The functional form of an in-place (`add_`) or `out=` operator, found by name and matching arguments; none if ATen
/// has none.
std::optional<FunctionalForm> functional_form(const c10::OperatorHandle& op);

/// Whether the operator overwrites its first argument without reading its values (fill_, bernoulli_, copy_, ...).
bool overwrites_self(const c10::OperatorName& name);

}  // namespace sapwood::capture
