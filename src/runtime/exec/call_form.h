#pragma once

#include <optional>
#include <vector>

#include "interp/binding.h"
#include "runtime/exec/program.h"

namespace sapwood::exec {

/// A way to compute an operator's results into given tensors: another operator and where each of its arguments comes
/// from.
struct CallForm {
  struct Source {
    enum class Kind : uint8_t { kArgument, kResult, kConstant };
    Kind kind = Kind::kConstant;
    size_t index = 0;  ///< of the original operator's argument or result
    c10::IValue constant;
  };
  std::optional<interp::Callable> callable;  ///< none: the results are uninitialised, nothing has to run
  std::vector<Source> sources;               ///< one per argument of `callable`
};

/// The form of `callable` that writes given tensors with the bits that `callable` itself would return. That is its out
/// variant if the CPU has a kernel of its own for it (generated out variants call the functional operator and copy), or
/// an in-place operator on the result for factories and copies. None if there is neither.
std::optional<CallForm> find_out_form(const interp::Callable& callable, std::string_view target);

/// Keeps the reads that `form` needs: what a factory only takes sizes from needs not be there when it runs. `arguments`
/// are those of the original operator.
void drop_unused_reads(const CallForm& form, const torch::jit::Stack& arguments, const Program& program,
                       std::vector<ValueId>& reads);

/// Whether the operator is an elementwise kernel that may write its result over an operand of the same layout.
bool is_elementwise(std::string_view target);

/// Whether the result is a view of the first argument, although the schema doesn't say so.
bool is_undeclared_view(std::string_view target);

}  // namespace sapwood::exec
