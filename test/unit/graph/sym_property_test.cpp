// Random expressions against evaluation by brute force.

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "base/error.h"
#include "graph/sym.h"

namespace sapwood::graph {
namespace {

constexpr int kPrograms = 4000;

/// An expression tree that is evaluated as it was written, without any algebra.
struct Tree {
  SymOp op = SymOp::kConst;
  int64_t value = 0;
  std::vector<Tree> operands;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Tree number(int depth) {
    if (depth <= 0 || pick(4) == 0) return leaf();
    static constexpr SymOp kOps[] = {SymOp::kAdd, SymOp::kAdd, SymOp::kMul, SymOp::kMul,      SymOp::kPow,
                                     SymOp::kMod, SymOp::kMin, SymOp::kMax, SymOp::kFloorDiv, SymOp::kWhere};
    const SymOp op = kOps[pick(std::size(kOps))];
    if (op == SymOp::kPow) return {op, 0, {number(depth - 1), {SymOp::kConst, static_cast<int64_t>(pick(4)), {}}}};
    if (op == SymOp::kWhere) return {op, 0, {condition(depth - 1), number(depth - 1), number(depth - 1)}};
    Tree tree{op, 0, {number(depth - 1), number(depth - 1)}};
    const bool variadic = op != SymOp::kMod && op != SymOp::kFloorDiv;
    if (variadic && pick(3) == 0) tree.operands.push_back(number(depth - 1));
    return tree;
  }

  Tree condition(int depth) {
    static constexpr SymOp kRelations[] = {SymOp::kEq, SymOp::kNe, SymOp::kLt, SymOp::kLe, SymOp::kGt, SymOp::kGe};
    if (depth > 1 && pick(3) == 0) return {SymOp::kNot, 0, {condition(depth - 1)}};
    if (depth > 1 && pick(2) == 0)
      return {pick(2) == 0 ? SymOp::kAnd : SymOp::kOr, 0, {condition(depth - 1), condition(depth - 1)}};
    return {kRelations[pick(6)], 0, {number(depth - 1), number(depth - 1)}};
  }

  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

 private:
  Tree leaf() {
    if (pick(2) == 0) return {SymOp::kSymbol, static_cast<int64_t>(pick(3)), {}};
    return {SymOp::kConst, static_cast<int64_t>(pick(13)) - 5, {}};
  }

  std::mt19937_64 random_;
};

std::string symbol_name(int64_t index) { return "s" + std::to_string(index); }

SymExpr build(const Tree& tree) {
  if (tree.op == SymOp::kConst) return tree.value;
  if (tree.op == SymOp::kSymbol) return SymExpr::symbol(symbol_name(tree.value));
  std::vector<SymExpr> operands;
  for (const Tree& operand : tree.operands) operands.push_back(build(operand));
  return SymExpr::make(tree.op, std::move(operands));
}

using Number = std::optional<__int128>;

/// A second, independent definition of what each operator means; none where the value is undefined or huge.
Number evaluate(const Tree& tree, const std::vector<int64_t>& symbols) {
  if (tree.op == SymOp::kConst) return tree.value;
  if (tree.op == SymOp::kSymbol) return symbols[static_cast<size_t>(tree.value)];
  std::vector<__int128> v;
  for (const Tree& operand : tree.operands) {
    const Number value = evaluate(operand, symbols);
    if (!value || *value > (__int128{1} << 31) || *value < -(__int128{1} << 31)) return std::nullopt;
    v.push_back(*value);
  }
  const auto quotient = [&] { return v[0] / v[1] - ((v[0] % v[1] != 0 && (v[0] < 0) != (v[1] < 0)) ? 1 : 0); };
  __int128 result = v[0];
  switch (tree.op) {
    case SymOp::kAdd:
      for (size_t i = 1; i < v.size(); ++i) result += v[i];
      return result;
    case SymOp::kMul:
      for (size_t i = 1; i < v.size(); ++i) {
        result *= v[i];
        if (i == 1 && v.size() > 2 && (result > (__int128{1} << 62) || result < -(__int128{1} << 62)))
          return std::nullopt;
      }
      return result;
    case SymOp::kMin:
      for (const __int128 x : v) result = std::min(result, x);
      return result;
    case SymOp::kMax:
      for (const __int128 x : v) result = std::max(result, x);
      return result;
    case SymOp::kPow:
      result = 1;
      for (int i = 0; i < v[1]; ++i) result *= v[0];
      return result;
    case SymOp::kFloorDiv:
      if (v[1] == 0) return std::nullopt;
      return quotient();
    case SymOp::kMod:
      if (v[1] == 0) return std::nullopt;
      return v[0] - quotient() * v[1];
    case SymOp::kWhere:
      return v[0] != 0 ? v[1] : v[2];
    case SymOp::kNot:
      return v[0] == 0;
    case SymOp::kAnd:
      return v[0] != 0 && v[1] != 0;
    case SymOp::kOr:
      return v[0] != 0 || v[1] != 0;
    case SymOp::kEq:
      return v[0] == v[1];
    case SymOp::kNe:
      return v[0] != v[1];
    case SymOp::kLt:
      return v[0] < v[1];
    case SymOp::kLe:
      return v[0] <= v[1];
    case SymOp::kGt:
      return v[0] > v[1];
    case SymOp::kGe:
      return v[0] >= v[1];
    default:
      return std::nullopt;
  }
}

/// The canonical form, or none where the tree divides by a constant zero or folds to something too large.
std::optional<SymExpr> try_build(const Tree& tree) {
  try {
    return build(tree);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser) << error.what();
    return std::nullopt;
  }
}

class SymProperty : public ::testing::Test {
 protected:
  uint64_t seed_ = std::random_device{}();
};

TEST_F(SymProperty, CanonicalFormsHaveTheValueOfWhatWasWritten) {
  int compared = 0;
  for (int i = 0; i < kPrograms; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_ + static_cast<uint64_t>(i)));
    Generator generator(seed_ + static_cast<uint64_t>(i));
    const Tree tree = generator.number(4);
    const std::optional<SymExpr> expr = try_build(tree);
    for (int round = 0; expr && round < 8; ++round) {
      std::vector<int64_t> values;
      SymbolTable symbols;
      for (int64_t s = 0; s < 3; ++s) {
        values.push_back(static_cast<int64_t>(generator.pick(19)) - 6);
        symbols[symbol_name(s)].hint = values.back();
      }
      const Number expected = evaluate(tree, values);
      const std::optional<int64_t> hint = expr->hint(symbols);
      if (!expected || !hint) continue;
      ++compared;
      ASSERT_EQ(*hint, static_cast<int64_t>(*expected))
          << expr->str() << " at " << values[0] << ", " << values[1] << ", " << values[2];
    }
  }
  EXPECT_GT(compared, kPrograms) << "the test compared next to nothing";
}

TEST_F(SymProperty, PrintedFormsParseToTheSameExpression) {
  int printed = 0;
  for (int i = 0; i < kPrograms; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_ + static_cast<uint64_t>(i)));
    Generator generator(seed_ + static_cast<uint64_t>(i));
    const Tree tree = generator.pick(4) == 0 ? generator.condition(4) : generator.number(5);
    const std::optional<SymExpr> expr = try_build(tree);
    if (!expr) continue;
    ++printed;
    const std::string text = expr->str();
    const SymExpr again = SymExpr::parse(text);
    ASSERT_EQ(again, *expr) << text << " became " << again.str();
    ASSERT_EQ(again.hash(), expr->hash());
    ASSERT_EQ(again.str(), text);
  }
  EXPECT_GT(printed, kPrograms / 2);
}

TEST_F(SymProperty, OperandOrderDoesNotMatter) {
  for (int i = 0; i < kPrograms; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_ + static_cast<uint64_t>(i)));
    Generator generator(seed_ + static_cast<uint64_t>(i));
    std::vector<SymExpr> operands;
    for (int k = 0; k < 4; ++k)
      if (const auto expr = try_build(generator.number(2))) operands.push_back(*expr);
    if (operands.empty()) continue;
    std::vector<SymExpr> reversed(operands.rbegin(), operands.rend());
    for (const SymOp op : {SymOp::kAdd, SymOp::kMul, SymOp::kMin, SymOp::kMax})
      ASSERT_EQ(SymExpr::make(op, operands), SymExpr::make(op, reversed));
  }
}

TEST_F(SymProperty, SubstitutingNumbersIsEvaluation) {
  for (int i = 0; i < kPrograms; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed_ + static_cast<uint64_t>(i)));
    Generator generator(seed_ + static_cast<uint64_t>(i));
    const std::optional<SymExpr> expr = try_build(generator.number(4));
    if (!expr) continue;
    std::map<std::string, SymExpr, std::less<>> values;
    SymbolTable symbols;
    for (int64_t s = 0; s < 3; ++s) {
      const auto value = static_cast<int64_t>(generator.pick(9)) + 1;
      values.emplace(symbol_name(s), value);
      symbols[symbol_name(s)].hint = value;
    }
    const std::optional<int64_t> hint = expr->hint(symbols);
    if (!hint) continue;
    try {
      ASSERT_EQ(expr->substitute(values), SymExpr(*hint)) << expr->str();
    } catch (const Error& error) {
      // A branch that evaluation skips may divide by zero.
      ASSERT_EQ(error.kind(), ErrorKind::kUser) << error.what();
    }
  }
}

}  // namespace
}  // namespace sapwood::graph
