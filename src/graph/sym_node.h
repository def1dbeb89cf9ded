#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/sym.h"

namespace sapwood::graph {

/// What a non-constant SymExpr points to. Immutable; shared by copies, so it may be read from any thread.
struct SymNode {
  SymOp op = SymOp::kConst;
  std::string name;  ///< only of a symbol
  std::vector<SymExpr> operands;
  uint64_t hash = 0;
  int32_t depth = 1;  ///< longest path to a leaf: bounds every recursion over expressions
};

/// Makes the node for operands that are already canonical; `name` only for symbols.
/// Errors: an expression deeper than kMaxSymDepth is a user error.
std::shared_ptr<const SymNode> make_sym_node(SymOp op, std::string_view name, std::vector<SymExpr> operands);

/// An expression of operands that are already canonical and need no folding.
SymExpr make_canonical(SymOp op, std::vector<SymExpr> operands);

inline constexpr int32_t kMaxSymDepth = 200;

}  // namespace sapwood::graph
