#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/sym.h"

namespace sapwood::graph {

/// Bounds on every expression, so that recursion over one is safe and hostile text costs little.
inline constexpr int32_t kMaxSymDepth = 100;
inline constexpr int64_t kMaxSymSize = 10000;           ///< nodes, counted as a tree
inline constexpr size_t kMaxSymbolLength = 128;         ///< characters of a symbol's name
inline constexpr size_t kMaxSymText = size_t{1} << 20;  ///< characters that `parse` takes
inline constexpr std::string_view kSymStage = "symbolic size";

/// What a non-constant SymExpr points to. Immutable; shared by copies, so it may be read from any thread.
struct SymNode {
  SymOp op = SymOp::kConst;
  std::string name;  ///< only of a symbol
  std::vector<SymExpr> operands;
  uint64_t hash = 0;
  int32_t depth = 1;
  int64_t size = 1;
};

/// Makes the node for operands that are already canonical; `name` only for symbols.
/// Errors: an expression beyond the bounds above is a user error.
std::shared_ptr<const SymNode> make_sym_node(SymOp op, std::string_view name, std::vector<SymExpr> operands);

/// An expression of operands that are already canonical and need no folding.
SymExpr make_canonical(SymOp op, std::vector<SymExpr> operands);

/// A product taken apart. The span points into the expression that was split, which has to outlive it.
struct SymProduct {
  int64_t coefficient = 1;
  std::span<const SymExpr> factors;  ///< empty for a constant
};
SymProduct split_product(const SymExpr& expr);

/// A power with a constant exponent taken apart; the exponent of anything else is 1.
struct SymPower {
  const SymExpr* base;
  int64_t exponent;
};
SymPower split_power(const SymExpr& factor);

/// Three-way comparison in SymPy's `default_sort_key` order, the order of factors and function arguments in print.
int compare_sym(const SymExpr& a, const SymExpr& b);

/// Sorts the terms of a sum as SymPy prints them: descending powers of the sorted generators, the constant last
/// (first in `1 - 2*s0`). Pre: like terms are collected.
void sort_terms(std::vector<SymExpr>& terms);

/// Arithmetic within ±(2^63 - 1); none if the result leaves that range. Symmetric, so that negation never overflows.
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_mul(int64_t a, int64_t b);
std::optional<int64_t> checked_pow(int64_t base, int64_t exponent);
/// Rounds towards minus infinity, as Python's `//`; none if b is 0.
std::optional<int64_t> floor_div(int64_t a, int64_t b);
/// Has the sign of b, as Python's `%`; none if b is 0.
std::optional<int64_t> floor_mod(int64_t a, int64_t b);

}  // namespace sapwood::graph
