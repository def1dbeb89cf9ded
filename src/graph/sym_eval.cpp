#include <algorithm>

#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

/// Evaluates with the symbols' hints. Every step may have no value.
class Evaluator {
 public:
  Evaluator(const SymbolTable& symbols, std::optional<int64_t> fallback) : symbols_(symbols), fallback_(fallback) {}

  std::optional<int64_t> operator()(const SymExpr& expr) const {
    if (expr.is_const()) return expr.value();
    if (expr.op() == SymOp::kSymbol) return symbol(expr.name());
    if (expr.op() == SymOp::kWhere || expr.op() == SymOp::kPiecewise) return where(expr.operands());
    std::optional<int64_t> result = (*this)(expr.operands().front());
    if (expr.op() == SymOp::kNot) return result ? std::optional<int64_t>(*result == 0) : std::nullopt;
    for (size_t i = 1; i < expr.operands().size() && result; ++i) {
      const std::optional<int64_t> next = (*this)(expr.operands()[i]);
      result = next ? apply(expr.op(), *result, *next) : std::nullopt;
    }
    return result;
  }

 private:
  std::optional<int64_t> symbol(const std::string& name) const {
    const auto it = symbols_.find(name);
    if (it == symbols_.end() || !fallback_) return it == symbols_.end() ? fallback_ : it->second.hint;
    const SymbolInfo& known = it->second;
    if (known.hint) return known.hint;
    // The fallback must be a value that the symbol can have.
    const int64_t at_least = std::max(*fallback_, known.lower.value_or(*fallback_));
    return std::min(at_least, known.upper.value_or(at_least));
  }

  std::optional<int64_t> where(const std::vector<SymExpr>& operands) const {
    const std::optional<int64_t> condition = (*this)(operands[0]);
    if (!condition) return std::nullopt;
    return (*this)(operands[*condition != 0 ? 1 : 2]);
  }

  static std::optional<int64_t> apply(SymOp op, int64_t a, int64_t b) {
    switch (op) {
      case SymOp::kAdd:
        return checked_add(a, b);
      case SymOp::kMul:
        return checked_mul(a, b);
      case SymOp::kPow:
        return checked_pow(a, b);
      case SymOp::kFloorDiv:
        return floor_div(a, b);
      case SymOp::kMod:
        return floor_mod(a, b);
      case SymOp::kTrueDiv:
        return floor_mod(a, b) == 0 ? floor_div(a, b) : std::nullopt;
      case SymOp::kMin:
        return std::min(a, b);
      case SymOp::kMax:
        return std::max(a, b);
      case SymOp::kEq:
        return a == b;
      case SymOp::kNe:
        return a != b;
      case SymOp::kLt:
        return a < b;
      case SymOp::kLe:
        return a <= b;
      case SymOp::kGt:
        return a > b;
      case SymOp::kGe:
        return a >= b;
      case SymOp::kAnd:
        return a != 0 && b != 0;
      case SymOp::kOr:
        return a != 0 || b != 0;
      default:
        return std::nullopt;
    }
  }

  const SymbolTable& symbols_;
  std::optional<int64_t> fallback_;
};

}  // namespace

std::optional<int64_t> SymExpr::hint(const SymbolTable& symbols) const { return Evaluator(symbols, {})(*this); }

std::optional<int64_t> SymExpr::hint_or(const SymbolTable& symbols, int64_t fallback) const {
  return Evaluator(symbols, fallback)(*this);
}

SymExpr SymExpr::substitute(const std::map<std::string, SymExpr, std::less<>>& values) const {
  if (is_const()) return *this;
  if (op() == SymOp::kSymbol) {
    const auto it = values.find(name());
    return it == values.end() ? *this : it->second;
  }
  std::vector<SymExpr> replaced;
  replaced.reserve(operands().size());
  for (const SymExpr& operand : operands()) replaced.push_back(operand.substitute(values));
  return replaced == operands() ? *this : make(op(), std::move(replaced));
}

}  // namespace sapwood::graph
