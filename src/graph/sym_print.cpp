#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

// How tightly each form binds, on SymPy's scale. Functions of PyTorch declare themselves looser than a sum, which is
// why SymPy's text has the double parentheses of `s77*(((s3 + 1)//2))`.
constexpr int kOr = 20;
constexpr int kAnd = 30;
constexpr int kRelation = 35;
constexpr int kTorchFunction = 35;
constexpr int kBitOr = 36;
constexpr int kBitAnd = 38;
constexpr int kSum = 40;
constexpr int kProduct = 50;
constexpr int kPower = 60;
constexpr int kNot = 100;
constexpr int kAlmostAtom = 999;
constexpr int kAtom = 1000;

int precedence(const SymExpr& expr) {
  switch (expr.op()) {
    case SymOp::kConst:
      return expr.value() < 0 ? kSum : kAtom;
    case SymOp::kAdd:
      return kSum;
    case SymOp::kMul:
      return kProduct;
    case SymOp::kPow:
      return expr.operands()[1].is_const() ? kPower : kProduct;
    case SymOp::kEq:
    case SymOp::kNe:
      return kProduct;
    case SymOp::kLt:
    case SymOp::kLe:
    case SymOp::kGt:
    case SymOp::kGe:
      return kRelation;
    case SymOp::kFloorDiv:
    case SymOp::kMod:
    case SymOp::kTrueDiv:
    case SymOp::kCeilDiv:
    case SymOp::kWhere:
    case SymOp::kPiecewise:
      return kTorchFunction;
    case SymOp::kAnd:
      return kAnd;
    case SymOp::kOr:
      return kOr;
    case SymOp::kNot:
      return kNot;
    default:
      return kAtom;
  }
}

/// Prints one expression; appends to `out`.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void print(const SymExpr& expr) {
    switch (expr.op()) {
      case SymOp::kConst:
        out_ += std::to_string(expr.value());
        break;
      case SymOp::kSymbol:
        out_ += expr.name();
        break;
      case SymOp::kAdd:
        sum(expr);
        break;
      case SymOp::kMul:
        product(expr);
        break;
      case SymOp::kPow:
        power(expr);
        break;
      case SymOp::kFloorDiv:
        floor_div(expr);
        break;
      case SymOp::kMod:
        function("Mod", expr);
        break;
      case SymOp::kMin:
        function("Min", expr);
        break;
      case SymOp::kMax:
        function("Max", expr);
        break;
      case SymOp::kEq:
        function("Eq", expr);
        break;
      case SymOp::kNe:
        function("Ne", expr);
        break;
      case SymOp::kTrueDiv:
        function("IntTrueDiv", expr);
        break;
      case SymOp::kCeilDiv:
        function("CeilDiv", expr);
        break;
      case SymOp::kWhere:
        function("Where", expr);
        break;
      case SymOp::kPiecewise:
        piecewise(expr);
        break;
      case SymOp::kLt:
        infix(expr, " < ", kRelation);
        break;
      case SymOp::kLe:
        infix(expr, " <= ", kRelation);
        break;
      case SymOp::kGt:
        infix(expr, " > ", kRelation);
        break;
      case SymOp::kGe:
        infix(expr, " >= ", kRelation);
        break;
      case SymOp::kAnd:
        infix(expr, " & ", kBitAnd);
        break;
      case SymOp::kOr:
        infix(expr, " | ", kBitOr);
        break;
      case SymOp::kNot:
        out_ += '~';
        operand(expr.operands()[0], kNot);
        break;
    }
  }

 private:
  /// Parenthesised unless it binds tighter than `level`.
  void operand(const SymExpr& expr, int level) {
    const bool parenthesise = precedence(expr) <= level;
    if (parenthesise) out_ += '(';
    print(expr);
    if (parenthesise) out_ += ')';
  }

  void infix(const SymExpr& expr, std::string_view sign, int level) {
    bool first = true;
    for (const SymExpr& item : expr.operands()) {
      if (!first) out_ += sign;
      first = false;
      operand(item, level);
    }
  }

  void function(std::string_view name, const SymExpr& expr) {
    out_ += name;
    out_ += '(';
    infix(expr, ", ", 0);
    out_ += ')';
  }

  /// A choice in the other branch of a choice is one more case.
  void piecewise(const SymExpr& expr) {
    out_ += "Piecewise(";
    const SymExpr* rest = &expr;
    for (; !rest->is_const() && rest->op() == SymOp::kPiecewise; rest = &rest->operands()[2]) {
      case_of(rest->operands()[1], &rest->operands()[0]);
      out_ += ", ";
    }
    case_of(*rest, nullptr);
    out_ += ')';
  }

  void case_of(const SymExpr& value, const SymExpr* condition) {
    out_ += '(';
    print(value);
    out_ += ", ";
    condition ? print(*condition) : void(out_ += "True");
    out_ += ')';
  }

  void sum(const SymExpr& expr) {
    bool first = true;
    for (const SymExpr& term : expr.operands()) {
      const size_t start = out_.size();
      if (precedence(term) < kSum) {
        operand(term, kSum);
      } else {
        print(term);
      }
      const bool negative = out_[start] == '-';
      if (!first) out_.replace(start, negative ? 1 : 0, negative ? " - " : " + ");
      first = false;
    }
  }

  void product(const SymExpr& expr) {
    const SymProduct parts = split_product(expr);
    if (parts.coefficient < 0) out_ += '-';
    bool first = true;
    if (parts.coefficient != 1 && parts.coefficient != -1) {
      out_ += std::to_string(parts.coefficient < 0 ? -parts.coefficient : parts.coefficient);
      first = false;
    }
    for (const SymExpr& factor : parts.factors) {
      if (!first) out_ += '*';
      first = false;
      operand(factor, kProduct);
    }
  }

  void power(const SymExpr& expr) {
    if (!expr.operands()[1].is_const()) return function("PowByNatural", expr);
    operand(expr.operands()[0], kPower);
    out_ += "**" + std::to_string(expr.operands()[1].value());
  }

  void floor_div(const SymExpr& expr) {
    out_ += '(';
    operand(expr.operands()[0], kAlmostAtom);
    out_ += "//";
    operand(expr.operands()[1], kAlmostAtom);
    out_ += ')';
  }

  std::string& out_;
};

}  // namespace

std::string SymExpr::str() const {
  std::string out;
  Printer(out).print(*this);
  return out;
}

}  // namespace sapwood::graph
