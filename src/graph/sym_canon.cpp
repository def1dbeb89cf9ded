#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

struct SymHash {
  size_t operator()(const SymExpr& expr) const { return expr.hash(); }
};

bool before(const SymExpr& a, const SymExpr& b) { return compare_sym(a, b) < 0; }

int64_t in_range(std::optional<int64_t> value) {
  if (!value) throw_user(kSymStage, "a constant of a symbolic size does not fit in 64 bits");
  return *value;
}

/// The operands with those of nested nodes of the same kind in their place.
std::vector<SymExpr> flatten(SymOp op, const std::vector<SymExpr>& operands) {
  std::vector<SymExpr> flat;
  for (const SymExpr& operand : operands) {
    if (operand.op() == op) {
      flat.insert(flat.end(), operand.operands().begin(), operand.operands().end());
    } else {
      flat.push_back(operand);
    }
  }
  return flat;
}

// Sums and products.

SymExpr with_coefficient(int64_t coefficient, const SymExpr& rest) {
  if (coefficient == 0) return 0;
  if (coefficient == 1) return rest;
  if (rest.is_const()) return in_range(checked_mul(coefficient, rest.value()));
  std::vector<SymExpr> operands{coefficient};
  const std::span<const SymExpr> factors = split_product(rest).factors;
  operands.insert(operands.end(), factors.begin(), factors.end());
  return make_canonical(SymOp::kMul, std::move(operands));
}

SymExpr product_without_coefficient(const SymExpr& expr, const SymProduct& product) {
  if (product.coefficient == 1) return expr;
  if (product.factors.size() == 1) return product.factors.front();
  return make_canonical(SymOp::kMul, {product.factors.begin(), product.factors.end()});
}

SymExpr make_sum(const std::vector<SymExpr>& operands) {
  int64_t constant = 0;
  std::unordered_map<SymExpr, int64_t, SymHash> coefficients;
  for (const SymExpr& term : flatten(SymOp::kAdd, operands)) {
    if (term.is_const()) {
      constant = in_range(checked_add(constant, term.value()));
      continue;
    }
    const SymProduct product = split_product(term);
    int64_t& coefficient = coefficients[product_without_coefficient(term, product)];
    coefficient = in_range(checked_add(coefficient, product.coefficient));
  }
  std::vector<SymExpr> terms;
  for (const auto& [rest, coefficient] : coefficients)
    if (coefficient != 0) terms.push_back(with_coefficient(coefficient, rest));
  if (terms.empty()) return constant;
  if (constant != 0) terms.emplace_back(constant);
  if (terms.size() == 1) return terms.front();
  sort_terms(terms);
  return make_canonical(SymOp::kAdd, std::move(terms));
}

SymExpr power_of(const SymExpr& base, int64_t exponent) {
  return exponent == 1 ? base : make_canonical(SymOp::kPow, {base, exponent});
}

SymExpr distribute(int64_t coefficient, const SymExpr& sum) {
  std::vector<SymExpr> terms;
  for (const SymExpr& term : sum.operands()) terms.push_back(SymExpr::make(SymOp::kMul, {coefficient, term}));
  return make_sum(terms);
}

SymExpr make_product(const std::vector<SymExpr>& operands) {
  int64_t coefficient = 1;
  bool zero = false;
  std::unordered_map<SymExpr, int64_t, SymHash> exponents;
  for (const SymExpr& factor : flatten(SymOp::kMul, operands)) {
    if (factor.is_const()) {
      zero = zero || factor.value() == 0;
      if (!zero) coefficient = in_range(checked_mul(coefficient, factor.value()));
      continue;
    }
    const SymPower power = split_power(factor);
    int64_t& exponent = exponents[*power.base];
    exponent = in_range(checked_add(exponent, power.exponent));
  }
  if (zero) return 0;
  std::vector<SymExpr> factors;
  for (const auto& [base, exponent] : exponents) factors.push_back(power_of(base, exponent));
  if (factors.empty()) return coefficient;
  if (factors.size() == 1) {
    if (coefficient == 1) return factors.front();
    if (factors.front().op() == SymOp::kAdd) return distribute(coefficient, factors.front());
  }
  std::sort(factors.begin(), factors.end(), before);
  if (coefficient != 1) factors.insert(factors.begin(), SymExpr(coefficient));
  return make_canonical(SymOp::kMul, std::move(factors));
}

SymExpr make_power(const SymExpr& base, const SymExpr& exponent) {
  if (!exponent.is_const()) {
    if (base.is_const() && base.value() == 1) return 1;
    return make_canonical(SymOp::kPow, {base, exponent});
  }
  const int64_t n = exponent.value();
  if (n < 0) throw_user(kSymStage, "the power '" + base.str() + "**(" + std::to_string(n) + ")' is not an integer");
  if (n == 0) return 1;
  if (n == 1) return base;
  if (base.is_const()) return in_range(checked_pow(base.value(), n));
  if (base.op() == SymOp::kMul) {
    std::vector<SymExpr> factors;
    for (const SymExpr& factor : base.operands()) factors.push_back(make_power(factor, exponent));
    return make_product(factors);
  }
  const SymPower power = split_power(base);
  return make_canonical(SymOp::kPow, {*power.base, in_range(checked_mul(power.exponent, n))});
}

// Division.

std::span<const SymExpr> terms_of(const SymExpr& expr) {
  return expr.op() == SymOp::kAdd ? std::span<const SymExpr>(expr.operands()) : std::span<const SymExpr>(&expr, 1);
}

/// The largest integer that divides every coefficient; 0 for the constant 0.
int64_t content(const SymExpr& expr) {
  int64_t result = 0;
  for (const SymExpr& term : terms_of(expr)) result = std::gcd(result, split_product(term).coefficient);
  return result;
}

SymExpr divide_content(const SymExpr& expr, int64_t divisor) {
  if (divisor == 1) return expr;
  std::vector<SymExpr> terms;
  for (const SymExpr& term : terms_of(expr)) {
    const SymProduct product = split_product(term);
    const SymExpr rest = product.factors.empty() ? SymExpr(1) : product_without_coefficient(term, product);
    terms.push_back(with_coefficient(product.coefficient / divisor, rest));
  }
  return make_sum(terms);
}

bool has_factor(const SymExpr& term, const SymExpr& factor) {
  const std::span<const SymExpr> factors = split_product(term).factors;
  return std::find(factors.begin(), factors.end(), factor) != factors.end();
}

SymExpr without_factor(const SymExpr& expr, const SymExpr& factor) {
  std::vector<SymExpr> terms;
  for (const SymExpr& term : terms_of(expr)) {
    const SymProduct product = split_product(term);
    std::vector<SymExpr> rest{product.coefficient};
    std::copy_if(product.factors.begin(), product.factors.end(), std::back_inserter(rest),
                 [&](const SymExpr& f) { return !(f == factor); });
    terms.push_back(make_product(rest));
  }
  return make_sum(terms);
}

/// Cancels integers and whole factors that numerator and denominator share.
void cancel(SymExpr& base, SymExpr& divisor) {
  const int64_t common = std::gcd(content(base), content(divisor));
  if (common > 1) {
    base = divide_content(base, common);
    divisor = divide_content(divisor, common);
  }
  const SymExpr original = divisor;
  for (const SymExpr& factor : split_product(original).factors) {
    const auto terms = terms_of(base);
    if (!std::all_of(terms.begin(), terms.end(), [&](const SymExpr& t) { return has_factor(t, factor); })) continue;
    base = without_factor(base, factor);
    divisor = without_factor(divisor, factor);
  }
}

/// Splits (4*a + b)//4 into a + b//4. Returns the whole part; `base` keeps the rest.
SymExpr take_whole_part(SymExpr& base, int64_t divisor) {
  std::vector<SymExpr> whole;
  std::vector<SymExpr> rest;
  for (const SymExpr& term : terms_of(base))
    (split_product(term).coefficient % divisor == 0 ? whole : rest).push_back(term);
  if (whole.empty()) return 0;
  const SymExpr quotient = divide_content(make_sum(whole), divisor);
  base = make_sum(rest);
  return quotient;
}

SymExpr make_floor_div(SymExpr base, SymExpr divisor) {
  if (divisor.is_const()) {
    const int64_t d = divisor.value();
    if (d == 0) throw_user(kSymStage, "'" + base.str() + "' is divided by zero");
    if (d == 1) return base;
    if (d == -1) return make_product({-1, base});
    if (base.is_const()) return *floor_div(base.value(), d);
  }
  if (base.is_const() && base.value() == 0) return 0;
  if (base == divisor) return 1;
  const bool nested = base.op() == SymOp::kFloorDiv && divisor.is_const() && divisor.value() > 0;
  if (nested) {
    const SymExpr inner = base;
    return make_floor_div(inner.operands()[0], make_product({inner.operands()[1], divisor}));
  }
  if (divisor.is_const()) {
    const SymExpr whole = take_whole_part(base, divisor.value());
    if (!(whole == SymExpr(0))) return make_sum({make_floor_div(base, divisor), whole});
  }
  const SymExpr before_cancel = divisor;
  cancel(base, divisor);
  if (!(divisor == before_cancel)) return make_floor_div(base, divisor);
  return make_canonical(SymOp::kFloorDiv, {base, divisor});
}

SymExpr make_mod(const SymExpr& base, const SymExpr& divisor) {
  if (divisor.is_const()) {
    const int64_t d = divisor.value();
    if (d == 0) throw_user(kSymStage, "the remainder of '" + base.str() + "' by zero");
    if (d == 1 || d == -1) return 0;
    if (base.is_const()) return *floor_mod(base.value(), d);
    if (content(base) % d == 0) return 0;
  }
  if (base.is_const() && base.value() == 0) return 0;
  if (base == divisor || base == make_product({-1, divisor})) return 0;
  return make_canonical(SymOp::kMod, {base, divisor});
}

/// Rounds up. Written as PyTorch writes it; exact for a positive divisor, which a size is.
SymExpr make_ceil_div(const SymExpr& base, const SymExpr& divisor) {
  if (divisor.is_const() && divisor.value() < 0) return make_floor_div(make_product({-1, base}), -divisor.value()) * -1;
  return make_floor_div(make_sum({base, divisor, -1}), divisor);
}

SymExpr make_true_div(const SymExpr& base, const SymExpr& divisor) {
  if (divisor.is_const()) {
    const int64_t d = divisor.value();
    if (d == 0) throw_user(kSymStage, "'" + base.str() + "' is divided by zero");
    if (content(base) % d == 0) return make_floor_div(base, divisor);
  }
  return make_canonical(SymOp::kTrueDiv, {base, divisor});
}

// Order and logic.

int64_t constant_of(const SymExpr& expr) {
  for (const SymExpr& term : terms_of(expr))
    if (term.is_const()) return term.value();
  return 0;
}

/// Whether the expressions differ by a constant only.
bool same_but_constant(const SymExpr& a, const SymExpr& b) {
  const auto x = terms_of(a);
  const auto y = terms_of(b);
  size_t i = 0;
  size_t j = 0;
  while (true) {
    while (i < x.size() && x[i].is_const()) ++i;
    while (j < y.size() && y[j].is_const()) ++j;
    if (i == x.size() || j == y.size()) return i == x.size() && j == y.size();
    if (!(x[i++] == y[j++])) return false;
  }
}

bool holds(SymOp op, int64_t a, int64_t b) {
  switch (op) {
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
    default:
      return a >= b;
  }
}

SymExpr make_relation(SymOp op, std::vector<SymExpr> operands) {
  if (same_but_constant(operands[0], operands[1]))
    return holds(op, constant_of(operands[0]), constant_of(operands[1])) ? 1 : 0;
  return make_canonical(op, std::move(operands));
}

void sort_and_dedupe(std::vector<SymExpr>& operands) {
  std::sort(operands.begin(), operands.end(), before);
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
}

/// Of operands that differ by a constant only the extreme one counts.
SymExpr make_extremum(SymOp op, const std::vector<SymExpr>& operands) {
  std::vector<SymExpr> kept;
  for (const SymExpr& operand : flatten(op, operands)) {
    const auto same =
        std::find_if(kept.begin(), kept.end(), [&](const SymExpr& k) { return same_but_constant(k, operand); });
    if (same == kept.end()) {
      kept.push_back(operand);
    } else if ((constant_of(operand) > constant_of(*same)) == (op == SymOp::kMax)) {
      *same = operand;
    }
  }
  if (kept.size() == 1) return kept.front();
  sort_and_dedupe(kept);
  return make_canonical(op, std::move(kept));
}

int64_t count_nodes(const SymExpr& expr) {
  int64_t count = 1;
  for (const SymExpr& operand : expr.operands()) count += count_nodes(operand);
  return count;
}

SymExpr make_connective(SymOp op, const std::vector<SymExpr>& operands) {
  const bool absorbing = op == SymOp::kOr;  // true absorbs in "or", false in "and"
  std::vector<SymExpr> kept;
  for (const SymExpr& operand : flatten(op, operands)) {
    if (!operand.is_const()) {
      kept.push_back(operand);
    } else if ((operand.value() != 0) == absorbing) {
      return absorbing ? 1 : 0;
    }
  }
  sort_and_dedupe(kept);
  if (kept.empty()) return absorbing ? 0 : 1;
  if (kept.size() == 1) return kept.front();
  std::stable_sort(kept.begin(), kept.end(),
                   [](const SymExpr& a, const SymExpr& b) { return count_nodes(a) < count_nodes(b); });
  return make_canonical(op, std::move(kept));
}

SymExpr make_not(const SymExpr& operand) {
  switch (operand.op()) {
    case SymOp::kConst:
      return operand.value() == 0 ? 1 : 0;
    case SymOp::kNot:
      return operand.operands()[0];
    case SymOp::kEq:
      return make_canonical(SymOp::kNe, operand.operands());
    case SymOp::kNe:
      return make_canonical(SymOp::kEq, operand.operands());
    case SymOp::kLt:
      return make_canonical(SymOp::kGe, operand.operands());
    case SymOp::kLe:
      return make_canonical(SymOp::kGt, operand.operands());
    case SymOp::kGt:
      return make_canonical(SymOp::kLe, operand.operands());
    case SymOp::kGe:
      return make_canonical(SymOp::kLt, operand.operands());
    default:
      return make_canonical(SymOp::kNot, {operand});
  }
}

SymExpr make_choice(SymOp op, std::vector<SymExpr> operands) {
  if (operands[0].is_const()) return operands[0].value() != 0 ? operands[1] : operands[2];
  if (operands[1] == operands[2]) return operands[1];
  return make_canonical(op, std::move(operands));
}

/// Number of operands that an operator takes; none for those that take any number above zero.
std::optional<size_t> arity(SymOp op) {
  switch (op) {
    case SymOp::kAdd:
    case SymOp::kMul:
    case SymOp::kMin:
    case SymOp::kMax:
    case SymOp::kAnd:
    case SymOp::kOr:
      return std::nullopt;
    case SymOp::kConst:
    case SymOp::kSymbol:
      return 0;
    case SymOp::kNot:
      return 1;
    case SymOp::kWhere:
    case SymOp::kPiecewise:
      return 3;
    default:
      return 2;
  }
}

void check_arity(SymOp op, size_t count) {
  const std::optional<size_t> wanted = arity(op);
  if (wanted ? (*wanted == count && count > 0) : count > 0) return;
  throw_internal(kSymStage, "an expression of kind " + std::to_string(static_cast<int>(op)) + " cannot have " +
                                std::to_string(count) + " operands");
}

}  // namespace

SymExpr SymExpr::make(SymOp op, std::vector<SymExpr> operands) {
  check_arity(op, operands.size());
  for (const SymExpr& operand : operands)
    if (operand.is_const()) in_range(checked_add(operand.value(), 0));
  switch (op) {
    case SymOp::kAdd:
      return make_sum(operands);
    case SymOp::kMul:
      return make_product(operands);
    case SymOp::kPow:
      return make_power(operands[0], operands[1]);
    case SymOp::kFloorDiv:
      return make_floor_div(operands[0], operands[1]);
    case SymOp::kMod:
      return make_mod(operands[0], operands[1]);
    case SymOp::kCeilDiv:
      return make_ceil_div(operands[0], operands[1]);
    case SymOp::kTrueDiv:
      return make_true_div(operands[0], operands[1]);
    case SymOp::kMin:
    case SymOp::kMax:
      return make_extremum(op, operands);
    case SymOp::kAnd:
    case SymOp::kOr:
      return make_connective(op, operands);
    case SymOp::kNot:
      return make_not(operands[0]);
    case SymOp::kWhere:
    case SymOp::kPiecewise:
      return make_choice(op, std::move(operands));
    default:
      return make_relation(op, std::move(operands));
  }
}

}  // namespace sapwood::graph
