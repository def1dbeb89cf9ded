#include "base/error.h"
#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

constexpr std::string_view kStage = "symbolic size";

int64_t fold(SymOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflow =
      op == SymOp::kAdd ? __builtin_add_overflow(a, b, &result) : __builtin_mul_overflow(a, b, &result);
  if (overflow) throw_user(kStage, "a constant does not fit in 64 bits");
  return result;
}

}  // namespace

SymExpr SymExpr::make(SymOp op, std::vector<SymExpr> operands) {
  const bool sum_or_product = op == SymOp::kAdd || op == SymOp::kMul;
  if (sum_or_product && operands.size() == 2 && operands[0].is_const() && operands[1].is_const())
    return fold(op, operands[0].value(), operands[1].value());
  return make_canonical(op, std::move(operands));
}

}  // namespace sapwood::graph
