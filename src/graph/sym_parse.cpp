#include <algorithm>
#include <array>

#include "base/error.h"
#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

constexpr int kMaxNesting = 2 * kMaxSymDepth + 8;  // a printed division has two pairs of parentheses per level

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct Function {
  std::string_view name;
  size_t min_arguments;
  size_t max_arguments;
  SymExpr (*make)(std::vector<SymExpr> arguments);
};

template <SymOp op>
SymExpr plain(std::vector<SymExpr> arguments) {
  return SymExpr::make(op, std::move(arguments));
}

SymExpr modular_indexing(std::vector<SymExpr> a) {
  return SymExpr::make(SymOp::kMod, {SymExpr::make(SymOp::kFloorDiv, {a[0], a[1]}), a[2]});
}

/// floor, ceiling and truncation of an integer are the integer; of a quotient they are an integer division.
template <SymOp division>
SymExpr rounded(std::vector<SymExpr> a) {
  return a[0].op() == SymOp::kTrueDiv ? SymExpr::make(division, a[0].operands()) : a[0];
}

SymExpr shift_left(std::vector<SymExpr> a) {
  return SymExpr::make(SymOp::kMul, {a[0], SymExpr::make(SymOp::kPow, {2, a[1]})});
}

SymExpr shift_right(std::vector<SymExpr> a) {
  return SymExpr::make(SymOp::kFloorDiv, {a[0], SymExpr::make(SymOp::kPow, {2, a[1]})});
}

SymExpr itself(std::vector<SymExpr> a) { return a[0]; }

constexpr size_t kAny = 10000;
constexpr std::array kFunctions{
    Function{"Add", 1, kAny, plain<SymOp::kAdd>},
    Function{"And", 1, kAny, plain<SymOp::kAnd>},
    Function{"CeilDiv", 2, 2, plain<SymOp::kCeilDiv>},
    Function{"CeilToInt", 1, 1, rounded<SymOp::kCeilDiv>},
    Function{"CleanDiv", 2, 2, plain<SymOp::kFloorDiv>},
    Function{"Eq", 2, 2, plain<SymOp::kEq>},
    Function{"FloatTrueDiv", 2, 2, plain<SymOp::kTrueDiv>},
    Function{"FloorDiv", 2, 2, plain<SymOp::kFloorDiv>},
    Function{"FloorToInt", 1, 1, rounded<SymOp::kFloorDiv>},
    Function{"Ge", 2, 2, plain<SymOp::kGe>},
    Function{"Gt", 2, 2, plain<SymOp::kGt>},
    Function{"Identity", 1, 1, itself},
    Function{"IntTrueDiv", 2, 2, plain<SymOp::kTrueDiv>},
    Function{"LShift", 2, 2, shift_left},
    Function{"Le", 2, 2, plain<SymOp::kLe>},
    Function{"Lt", 2, 2, plain<SymOp::kLt>},
    Function{"Max", 1, kAny, plain<SymOp::kMax>},
    Function{"Min", 1, kAny, plain<SymOp::kMin>},
    Function{"Mod", 2, 2, plain<SymOp::kMod>},
    Function{"ModularIndexing", 3, 3, modular_indexing},
    Function{"Mul", 1, kAny, plain<SymOp::kMul>},
    Function{"Ne", 2, 2, plain<SymOp::kNe>},
    Function{"Not", 1, 1, plain<SymOp::kNot>},
    Function{"Or", 1, kAny, plain<SymOp::kOr>},
    Function{"Pow", 2, 2, plain<SymOp::kPow>},
    Function{"PowByNatural", 2, 2, plain<SymOp::kPow>},
    Function{"PythonMod", 2, 2, plain<SymOp::kMod>},
    Function{"RShift", 2, 2, shift_right},
    Function{"Where", 3, 3, plain<SymOp::kWhere>},
    Function{"ceiling", 1, 1, rounded<SymOp::kCeilDiv>},
    Function{"floor", 1, 1, rounded<SymOp::kFloorDiv>},
};

/// Recursive descent over Python's precedence levels.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  SymExpr parse() {
    if (text_.size() > kMaxSymText) fail("the text is longer than " + std::to_string(kMaxSymText) + " characters");
    SymExpr result = disjunction();
    if (peek() != '\0') fail("expected the end of the expression");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_user(kSymStage, what + " at column " + std::to_string(at_ + 1) + " of '" + std::string(text_.substr(0, 200)) +
                              (text_.size() > 200 ? "...'" : "'"));
  }

  /// Runs a step that builds an expression; its errors get the column.
  template <typename Step>
  SymExpr build(Step step) const {
    try {
      return step();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUser) throw;
      fail(error.message());
    }
  }

  SymExpr make(SymOp op, std::vector<SymExpr> operands) const {
    return build([&] { return SymExpr::make(op, std::move(operands)); });
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(std::string_view token) {
    peek();
    if (!text_.substr(at_).starts_with(token)) return false;
    const size_t end = at_ + token.size();
    const bool word = is_letter(token.front());
    if (word && end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    at_ = end;
    return true;
  }

  void expect(char c) {
    if (peek() != c) fail(std::string("expected '") + c + "'");
    ++at_;
  }

  SymExpr disjunction() {
    std::vector<SymExpr> operands{conjunction()};
    while (take("or")) operands.push_back(conjunction());
    return operands.size() == 1 ? operands.front() : make(SymOp::kOr, std::move(operands));
  }

  SymExpr conjunction() {
    std::vector<SymExpr> operands{inversion()};
    while (take("and")) operands.push_back(inversion());
    return operands.size() == 1 ? operands.front() : make(SymOp::kAnd, std::move(operands));
  }

  SymExpr inversion() {
    size_t count = 0;
    while (take("not")) ++count;
    const SymExpr operand = comparison();
    if (count == 0) return operand;
    const SymExpr inverted = make(SymOp::kNot, {operand});
    return count % 2 == 1 ? inverted : make(SymOp::kNot, {inverted});
  }

  std::optional<SymOp> relation() {
    if (take("<=")) return SymOp::kLe;
    if (take("<")) return SymOp::kLt;
    if (take(">=")) return SymOp::kGe;
    if (take(">")) return SymOp::kGt;
    if (take("==")) return SymOp::kEq;
    if (take("!=")) return SymOp::kNe;
    return std::nullopt;
  }

  SymExpr comparison() {
    const SymExpr left = bit_or();
    const std::optional<SymOp> op = relation();
    if (!op) return left;
    const SymExpr right = bit_or();
    if (relation()) fail("a chain of comparisons; write 'and' between them");
    return make(*op, {left, right});
  }

  SymExpr bit_or() {
    std::vector<SymExpr> operands{bit_and()};
    while (take("|")) operands.push_back(bit_and());
    return operands.size() == 1 ? operands.front() : make(SymOp::kOr, std::move(operands));
  }

  SymExpr bit_and() {
    std::vector<SymExpr> operands{sum()};
    while (take("&")) operands.push_back(sum());
    return operands.size() == 1 ? operands.front() : make(SymOp::kAnd, std::move(operands));
  }

  SymExpr sum() {
    std::vector<SymExpr> terms{term(false)};
    while (true) {
      if (take("+")) {
        terms.push_back(term(false));
      } else if (take("-")) {
        terms.push_back(term(true));
      } else {
        return terms.size() == 1 ? terms.front() : make(SymOp::kAdd, std::move(terms));
      }
    }
  }

  /// A chain of products is built at once: `2*(a + 1)*b` keeps its 2, `(2*(a + 1))*b` has it inside the sum.
  SymExpr term(bool negated) {
    std::vector<SymExpr> factors;
    signed_factor(factors);
    while (true) {
      if (take("//")) {
        divide(SymOp::kFloorDiv, factors);
      } else if (take("/")) {
        divide(SymOp::kTrueDiv, factors);
      } else if (take("%")) {
        divide(SymOp::kMod, factors);
      } else if (take("*")) {
        signed_factor(factors);
      } else {
        break;
      }
    }
    if (negated) factors.insert(factors.begin(), SymExpr(-1));
    return factors.size() == 1 ? factors.front() : make(SymOp::kMul, std::move(factors));
  }

  void divide(SymOp op, std::vector<SymExpr>& factors) {
    std::vector<SymExpr> right;
    signed_factor(right);
    const SymExpr numerator = make(SymOp::kMul, std::move(factors));
    const SymExpr denominator = make(SymOp::kMul, std::move(right));
    factors = {make(op, {numerator, denominator})};
  }

  void signed_factor(std::vector<SymExpr>& factors) {
    bool negative = false;
    while (true) {
      if (take("-")) {
        negative = !negative;
      } else if (!take("+")) {
        break;
      }
    }
    const SymExpr base = atom();
    if (!take("**")) {
      push_factor(factors, negative, base);
      return;
    }
    std::vector<SymExpr> exponent;
    Nesting nesting(*this);  // `a**b**c` recurses
    signed_factor(exponent);
    push_factor(factors, negative, make(SymOp::kPow, {base, make(SymOp::kMul, std::move(exponent))}));
  }

  static void push_factor(std::vector<SymExpr>& factors, bool negative, const SymExpr& factor) {
    if (negative && factor.is_const()) {
      factors.push_back(SymExpr::make(SymOp::kMul, {-1, factor}));
      return;
    }
    if (negative) factors.emplace_back(-1);
    factors.push_back(factor);
  }

  /// Counts open parentheses, calls and powers, so that hostile text can't exhaust the stack.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting)
        parser_.fail("nested deeper than " + std::to_string(kMaxNesting) + " levels");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  SymExpr atom() {
    const Nesting nesting(*this);
    const char c = peek();
    if (is_digit(c)) return number();
    if (is_letter(c)) return word();
    if (take("~")) return make(SymOp::kNot, {atom()});
    if (c != '(') fail(c == '\0' ? "the expression ends early" : "expected a number, a name or '('");
    ++at_;
    SymExpr inner = disjunction();
    expect(')');
    return inner;
  }

  SymExpr number() {
    const size_t start = at_;
    std::optional<int64_t> value = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      value = checked_mul(*value, 10);
      if (value) value = checked_add(*value, text_[at_] - '0');
      if (!value) fail("the number does not fit in 64 bits");
    }
    if (at_ < text_.size() && (text_[at_] == '.' || is_letter(text_[at_]))) {
      at_ = start;
      fail("expected an integer; sizes have no fractions");
    }
    return *value;
  }

  SymExpr word() {
    const size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (peek() == '(') return call(name, start);
    if (name == "True") return 1;
    if (name == "False") return 0;
    return build([&] { return SymExpr::symbol(name); });
  }

  /// `Piecewise((value, condition), ..., (value, True))`, as SymPy writes a choice.
  SymExpr piecewise() {
    const Nesting nesting(*this);
    expect('(');
    const SymExpr value = disjunction();
    expect(',');
    const SymExpr condition = disjunction();
    expect(')');
    if (!take(",")) {
      if (condition != SymExpr(1)) fail("the last condition of Piecewise must be True");
      expect(')');
      return value;
    }
    return make(SymOp::kPiecewise, {condition, value, piecewise()});
  }

  SymExpr call(std::string_view name, size_t start) {
    if (name == "Piecewise") {
      ++at_;
      return piecewise();
    }
    const auto function =
        std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& f) { return f.name == name; });
    if (function == kFunctions.end()) {
      at_ = start;
      fail("unknown function '" + std::string(name.substr(0, kMaxSymbolLength)) + "'");
    }
    ++at_;
    std::vector<SymExpr> arguments{disjunction()};
    while (take(",")) arguments.push_back(disjunction());
    expect(')');
    if (arguments.size() < function->min_arguments || arguments.size() > function->max_arguments)
      fail(std::string(name) + " does not take " + std::to_string(arguments.size()) + " arguments");
    return build([&] { return function->make(std::move(arguments)); });
  }

  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
};

}  // namespace

SymExpr SymExpr::parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace sapwood::graph
