#include <algorithm>
#include <unordered_map>
#include <utility>

#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

/// SymPy sorts by class first: numbers, symbols, products, sums, functions by name, then all else by name.
struct ClassKey {
  int major;
  int minor;
  std::string_view name;
};

ClassKey class_of_op(SymOp op) {
  switch (op) {
    case SymOp::kConst:
      return {1, 0, "Number"};
    case SymOp::kSymbol:
      return {2, 0, "Symbol"};
    case SymOp::kMul:
      return {3, 0, "Mul"};
    case SymOp::kAdd:
      return {3, 1, "Add"};
    case SymOp::kFloorDiv:
      return {4, 0, "FloorDiv"};
    case SymOp::kTrueDiv:
      return {4, 0, "IntTrueDiv"};
    case SymOp::kMod:
      return {4, 0, "Mod"};
    case SymOp::kPow:
      return {4, 0, "PowByNatural"};
    case SymOp::kWhere:
      return {4, 0, "Where"};
    case SymOp::kPiecewise:
      return {4, 0, "Piecewise"};
    case SymOp::kAnd:
      return {5, 0, "And"};
    case SymOp::kCeilDiv:
      return {5, 0, "CeilDiv"};
    case SymOp::kEq:
      return {5, 0, "Equality"};
    case SymOp::kGe:
      return {5, 0, "GreaterThan"};
    case SymOp::kLe:
      return {5, 0, "LessThan"};
    case SymOp::kMax:
      return {5, 0, "Max"};
    case SymOp::kMin:
      return {5, 0, "Min"};
    case SymOp::kNot:
      return {5, 0, "Not"};
    case SymOp::kOr:
      return {5, 0, "Or"};
    case SymOp::kGt:
      return {5, 0, "StrictGreaterThan"};
    case SymOp::kLt:
      return {5, 0, "StrictLessThan"};
    case SymOp::kNe:
      return {5, 0, "Unequality"};
  }
  return {6, 0, ""};
}

/// An expression as the sort sees it: coefficient and exponent set aside.
struct SortView {
  ClassKey kind;
  std::span<const SymExpr> args;
  std::string_view symbol;
  SymExpr exponent = 1;
  int64_t coefficient = 1;
};

SortView view_of(const SymExpr& expr) {
  SortView view;
  const SymProduct product = split_product(expr);
  view.coefficient = product.coefficient;
  if (product.factors.size() != 1) {
    view.kind = class_of_op(product.factors.empty() ? SymOp::kConst : SymOp::kMul);
    view.args = product.factors;
    return view;
  }
  const SymPower power = split_power(product.factors.front());
  const SymExpr& base = *power.base;
  view.kind = class_of_op(base.op());
  view.exponent = power.exponent;
  if (base.op() == SymOp::kSymbol) {
    view.symbol = base.name();
  } else {
    view.args = base.operands();
  }
  return view;
}

int compare_int(int64_t a, int64_t b) { return a < b ? -1 : (a > b ? 1 : 0); }

int compare_class(const ClassKey& a, const ClassKey& b) {
  if (a.major != b.major) return compare_int(a.major, b.major);
  if (a.minor != b.minor) return compare_int(a.minor, b.minor);
  return a.name.compare(b.name);
}

int compare_args(std::span<const SymExpr> a, std::span<const SymExpr> b) {
  if (a.size() != b.size()) return compare_int(static_cast<int64_t>(a.size()), static_cast<int64_t>(b.size()));
  for (size_t i = 0; i < a.size(); ++i)
    if (const int order = compare_sym(a[i], b[i])) return order;
  return 0;
}

/// Exponents of the generators that occur in a term, by generator index.
using Monomial = std::vector<std::pair<size_t, int64_t>>;

/// Descending lexicographic order: the first generator with a larger exponent wins.
bool monomial_before(const Monomial& a, const Monomial& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].first != b[i].first) return a[i].first < b[i].first;
    if (a[i].second != b[i].second) return a[i].second > b[i].second;
  }
  return a.size() > b.size();
}

struct SymHash {
  size_t operator()(const SymExpr& expr) const { return expr.hash(); }
};

/// Every distinct base in the terms, with its rank in the sort order.
std::unordered_map<SymExpr, size_t, SymHash> rank_generators(const std::vector<SymExpr>& terms) {
  std::unordered_map<SymExpr, size_t, SymHash> ranks;
  for (const SymExpr& term : terms)
    for (const SymExpr& factor : split_product(term).factors) ranks.emplace(*split_power(factor).base, 0);
  std::vector<SymExpr> generators;
  for (const auto& [generator, rank] : ranks) generators.push_back(generator);
  std::sort(generators.begin(), generators.end(),
            [](const SymExpr& a, const SymExpr& b) { return compare_sym(a, b) < 0; });
  for (size_t i = 0; i < generators.size(); ++i) ranks[generators[i]] = i;
  return ranks;
}

/// `1 - 2*s0` is printed with the number first.
bool number_goes_first(const std::vector<SymExpr>& terms) {
  if (terms.size() != 2 || !terms[1].is_const() || terms[1].value() < 0) return false;
  const SymProduct product = split_product(terms[0]);
  return product.coefficient < 0 && product.factors.size() == 1;
}

}  // namespace

int compare_sym(const SymExpr& a, const SymExpr& b) {
  if (a == b) return 0;
  const SortView left = view_of(a);
  const SortView right = view_of(b);
  if (const int order = compare_class(left.kind, right.kind)) return order;
  if (const int order = left.symbol.compare(right.symbol)) return order;
  if (const int order = compare_args(left.args, right.args)) return order;
  if (const int order = compare_int(left.exponent.value(), right.exponent.value())) return order;
  return compare_int(left.coefficient, right.coefficient);
}

void sort_terms(std::vector<SymExpr>& terms) {
  const auto ranks = rank_generators(terms);
  std::vector<std::pair<Monomial, SymExpr>> keyed;
  keyed.reserve(terms.size());
  for (SymExpr& term : terms) {
    Monomial monomial;
    for (const SymExpr& factor : split_product(term).factors) {
      const SymPower power = split_power(factor);
      monomial.emplace_back(ranks.at(*power.base), power.exponent);
    }
    std::sort(monomial.begin(), monomial.end());
    keyed.emplace_back(std::move(monomial), std::move(term));
  }
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return monomial_before(a.first, b.first); });
  for (size_t i = 0; i < terms.size(); ++i) terms[i] = std::move(keyed[i].second);
  if (number_goes_first(terms)) std::swap(terms[0], terms[1]);
}

}  // namespace sapwood::graph
