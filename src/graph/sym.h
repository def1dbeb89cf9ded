#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sapwood::graph {

/// What is known of one named symbol.
struct SymbolInfo {
  std::optional<int64_t> hint;   ///< value at capture; none = data-dependent
  std::optional<int64_t> lower;  ///< inclusive; none = unbounded
  std::optional<int64_t> upper;  ///< inclusive; none = unbounded
  bool unbacked = false;         ///< born inside the graph (`u0`), not from an input's size

  friend bool operator==(const SymbolInfo&, const SymbolInfo&) = default;
};

/// Symbols by name; ordered, so that printing is deterministic.
using SymbolTable = std::map<std::string, SymbolInfo, std::less<>>;

enum class SymOp : uint8_t {
  kConst,
  kSymbol,
  kAdd,
  kMul,
  kPow,
  kFloorDiv,
  kMod,
  kMin,
  kMax,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kAnd,
  kOr,
  kNot,
  kTrueDiv,
  kCeilDiv,
  kWhere,      ///< (condition, value, other), written Where(...)
  kPiecewise,  ///< the same, written Piecewise((value, condition), ..., (other, True))
};

struct SymNode;

/// An immutable symbolic integer (or comparison of such) in canonical form: sums and products are flattened, constants
/// are folded, like terms are collected and operands are ordered, so that equal polynomials are equal expressions.
///
/// Copies share structure. Equality compares a stored hash first and is O(1) for unequal expressions. Thread-safe to
/// read and copy. Text form is SymPy's: `s77*((s3 + 1)//2)`, `Max(1, u0)`, `Mod(s0, 2)`, `Ne(s0, 1)`.
class SymExpr {
 public:
  SymExpr();               ///< zero
  SymExpr(int64_t value);  // NOLINT(google-explicit-constructor): an integer is a size
  static SymExpr symbol(std::string_view name);
  /// Builds and canonicalises. Errors: a wrong number of operands is an internal error.
  static SymExpr make(SymOp op, std::vector<SymExpr> operands);
  /// Parses SymPy text. Errors: user error with the column of the offending character.
  static SymExpr parse(std::string_view text);

  bool is_const() const;
  /// The value of a constant. Pre: is_const().
  int64_t value() const;
  SymOp op() const;
  /// Name of a symbol. Pre: op() == SymOp::kSymbol.
  const std::string& name() const;
  const std::vector<SymExpr>& operands() const;

  /// Longest path from this node to a leaf; 0 for a constant. Bounded, so recursion over expressions is safe.
  int32_t depth() const;
  /// Number of nodes, counted as a tree. Bounded, like the depth.
  int64_t size() const;
  std::string str() const;
  uint64_t hash() const;
  /// Every symbol that occurs, once each, in name order.
  std::vector<std::string> free_symbols() const;
  /// Value with the symbols' hints; none if one has no hint, on overflow or on division by zero.
  std::optional<int64_t> hint(const SymbolTable& symbols) const;
  /// As `hint`, with `fallback` for symbols that have none (PyTorch's optimization hint uses 4096).
  std::optional<int64_t> hint_or(const SymbolTable& symbols, int64_t fallback) const;
  /// Replaces symbols and canonicalises again.
  SymExpr substitute(const std::map<std::string, SymExpr, std::less<>>& values) const;

  friend bool operator==(const SymExpr& a, const SymExpr& b);

 private:
  friend SymExpr make_canonical(SymOp op, std::vector<SymExpr> operands);
  explicit SymExpr(std::shared_ptr<const SymNode> node);
  std::shared_ptr<const SymNode> node_;  // null: the constant value_
  int64_t value_ = 0;
};

SymExpr operator+(const SymExpr& a, const SymExpr& b);
SymExpr operator-(const SymExpr& a, const SymExpr& b);
SymExpr operator*(const SymExpr& a, const SymExpr& b);

}  // namespace sapwood::graph
