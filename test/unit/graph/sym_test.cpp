#include "graph/sym.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace sapwood::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string canonical(std::string_view text) { return SymExpr::parse(text).str(); }

std::string error_of(std::string_view text) {
  try {
    SymExpr::parse(text);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kUser ? error.message() : "wrong kind of error: " + error.message();
  }
  return "";
}

// What SymPy (with PyTorch's functions) prints; each must come back letter for letter.
TEST(Sym, PrintsTheTextThatSympyPrints) {
  for (const std::string text : {"1000*s27",
                                 "1024*s27*(s52 - 1) + 1024*s27",
                                 "16*s27**2*(s52 - 1) + 12*s27**2 + 4*s27*(s27 - 1) + 4*s27",
                                 "16*s27**2*s52",
                                 "4*s27**2*(4*s52 - 1) + 4*s27*(s27 - 1) + 4*s27",
                                 "8*s27 + 8*(s27 + 1)*(s52 - 1) + 8",
                                 "8*s38*(s38 - 1) + 8*s38",
                                 "s27**2*(s52 - 1) + s27*(s27 - 1) + s27",
                                 "s27 + 1",
                                 "s27*s52",
                                 "s77*(((s3 + 1)//2))",
                                 "(((s3 + 1)//2)) + 1",
                                 "((s0*s3)//2)",
                                 "((((s3//2)) + 1)//s0)",
                                 "((s3//2))**2",
                                 "((s0//2))*((s3//2))",
                                 "((s0//2)) + ((s3//2))",
                                 "s1*(Mod(s0, 2)) + (Mod(s0, 2))",
                                 "(Mod(u0, 2)) + 1",
                                 "-((s3//2))",
                                 "3 - ((s3//2))",
                                 "4*Max(1, u0)",
                                 "Max(1, 2*s0, u0)",
                                 "Max(4, u0, u0*u1, s0 + s1)",
                                 "Ne(s0, 1)",
                                 "Eq(u0, s1) & (s0 > 1)",
                                 "Eq(u0, s1) | (s0 > 3)",
                                 "~((s0 > 3) & (u0 < s1))",
                                 "s0 <= 5",
                                 "3*(PowByNatural(s0, u0))",
                                 "(PowByNatural(s0, u0))**2",
                                 "s1*(IntTrueDiv(s0, 2))",
                                 "(Where(s0 > 3, s1, s0)) + 1",
                                 "1 - s0",
                                 "1 - 2*s0",
                                 "-s0*s1 + 2",
                                 "s0 - 1",
                                 "-s0 - 1",
                                 "-s0*s1 - 1",
                                 "s1*(s0 + 1)**2",
                                 "2*(s0 - 1)*(s1 + 1)",
                                 "s0**2*s1 + s0*s1 + s1**3 + 5",
                                 "s0**2 + s0*((s1//2)) + ((s1//2))**3",
                                 "s0 >= s1 + 1",
                                 "((-u0)//2)",
                                 "s0 + (((2*u0 + 3)//4))",
                                 "Mod(s0 + u0, 3 - s0)",
                                 "s0*(s0 - s1)*(s0 + s1)",
                                 "-Max(4, u0) + Min(s0, u0)",
                                 "Eq(s0 + 1, s0 + u0)",
                                 "(s1//u0)",
                                 "(s0//(-2))",
                                 "((3*s0)//2)",
                                 "((s0**2 + s0)//s0)",
                                 "Max(u0*(u0 + 1), s0 - 1)",
                                 "Eq(s0, u0) & (s0 < u0) & Ne(s1, 3)",
                                 "(3*s0 + 3)*Max(2, s0)",
                                 "u0*(Mod(u0, 3)) + u0*Max(1, u0) + u0 + Max(1, u0)**2",
                                 "5*s1*(s0 + 1)*((s0//3))*(Mod(s0, 3))*Max(2, u0)",
                                 "Where(Eq(u0, 1), s0, 1)",
                                 "Piecewise((s0, Eq(u0, 1)), (1, True))",
                                 "Piecewise((s0, u0 > 1), (2*s0, u0 > 0), (0, True))",
                                 "((Mod(u0, 3))//2)",
                                 "(Max(3, u0)//(s0 + 1))",
                                 "(s0 + 1)*(-2*u0 - 2)",
                                 "Mod(u0 + 1, (s0//2))",
                                 "-4*s0*(s1 + 1) + (s0 + 1)*(((s0 + s1)//2))"}) {
    EXPECT_EQ(canonical(text), text);
  }
}

TEST(Sym, CollectsLikeTermsAndFoldsConstants) {
  EXPECT_EQ(canonical("s0 + s0"), "2*s0");
  EXPECT_EQ(canonical("s0 - s0"), "0");
  EXPECT_EQ(canonical("2*(s0 + 1)"), "2*s0 + 2");
  EXPECT_EQ(canonical("-(s0 - 3)"), "3 - s0");
  EXPECT_EQ(canonical("s0*3*s0*2"), "6*s0**2");
  EXPECT_EQ(canonical("(2*s0)**3"), "8*s0**3");
  EXPECT_EQ(canonical("s1*s0 + s0*s1"), "2*s0*s1");
  EXPECT_EQ(canonical("2**10 - 24"), "1000");
  EXPECT_EQ(canonical("-7//2"), "-4");
  EXPECT_EQ(canonical("-7 % 3"), "2");
  EXPECT_EQ(canonical("Max(3, 5, s0, s0)"), "Max(5, s0)");
  EXPECT_EQ(canonical("0*s0"), "0");
  EXPECT_EQ(canonical("s0**0"), "1");
}

TEST(Sym, DividesExactlyWherePossible) {
  EXPECT_EQ(canonical("(4*s0 + 1)//4"), "s0");
  EXPECT_EQ(canonical("(s0*s1)//s1"), "s0");
  EXPECT_EQ(canonical("(6*s0)//4"), "((3*s0)//2)");
  EXPECT_EQ(canonical("(s0//2)//3"), "(s0//6)");
  EXPECT_EQ(canonical("CeilDiv(s0, 4)"), "((s0 + 3)//4)");
  EXPECT_EQ(canonical("CeilToInt(IntTrueDiv(s0, 2))"), "((s0 + 1)//2)");
  EXPECT_EQ(canonical("FloorToInt(s0/2)"), "(s0//2)");
  EXPECT_EQ(canonical("4*s0/2"), "2*s0");
  EXPECT_EQ(canonical("Mod(4*s0, 2)"), "0");
  EXPECT_EQ(canonical("ModularIndexing(s0, 2, 3)"), "Mod((s0//2), 3)");
}

TEST(Sym, DecidesRelationsThatDifferByAConstant) {
  EXPECT_EQ(canonical("s0 + 1 > s0"), "1");
  EXPECT_EQ(canonical("Eq(s0, s0 + 2)"), "0");
  EXPECT_EQ(canonical("s0 == 3"), "Eq(s0, 3)");
  EXPECT_EQ(canonical("not s0 > 5"), "s0 <= 5");
  EXPECT_EQ(canonical("s0 > 1 and True"), "s0 > 1");
  EXPECT_EQ(canonical("s0 > 1 or True"), "1");
  EXPECT_EQ(canonical("Max(s0, s0 + 1)"), "s0 + 1");
  EXPECT_EQ(canonical("Min(s0, s0 + 1)"), "s0");
}

TEST(Sym, EqualExpressionsAreEqualHoweverTheyWereBuilt) {
  const SymExpr a = SymExpr::symbol("s0");
  const SymExpr b = SymExpr::symbol("s1");
  EXPECT_EQ(a * b + 3, SymExpr(3) + b * a);
  EXPECT_EQ((a * b + 3).hash(), (SymExpr(3) + b * a).hash());
  EXPECT_FALSE(a + b == a * b);
  EXPECT_EQ(a - a, SymExpr(0));
  EXPECT_TRUE((a - a).is_const());
}

TEST(Sym, HintsFollowTheSymbols) {
  SymbolTable symbols;
  symbols["s0"].hint = 7;
  symbols["u0"].unbacked = true;
  EXPECT_EQ(SymExpr::parse("s0*(s0 - 1)//2").hint(symbols), 21);
  EXPECT_EQ(SymExpr::parse("s0 + u0").hint(symbols), std::nullopt);
  EXPECT_EQ(SymExpr::parse("s0 + u0").hint_or(symbols, 4096), 4103);
  EXPECT_EQ(SymExpr::parse("s0 // (s0 - 7)").hint(symbols), std::nullopt) << "division by zero";
  EXPECT_EQ(SymExpr::parse("s0**40").hint(symbols), std::nullopt) << "overflow";
  EXPECT_EQ(SymExpr::parse("Where(s0 > 3, s0, u0)").hint(symbols), 7) << "the other branch is not evaluated";
  EXPECT_EQ(SymExpr::parse("s0/2").hint(symbols), std::nullopt) << "7/2 is not an integer";
}

TEST(Sym, SubstitutionCanonicalisesAgain) {
  const SymExpr expr = SymExpr::parse("s0*(s1 + 1)//4");
  EXPECT_EQ(expr.substitute({{"s0", 8}}), SymExpr::parse("2*s1 + 2"));
  EXPECT_EQ(expr.substitute({{"s0", 8}, {"s1", 3}}), SymExpr(8));
  EXPECT_EQ(expr.substitute({{"s9", 8}}), expr);
  EXPECT_THAT(expr.free_symbols(), ElementsAre("s0", "s1"));
}

TEST(Sym, OverflowIsAnErrorAndNeverWrapsAround) {
  const int64_t large = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(SymExpr(large) + SymExpr(1), Error);
  EXPECT_THROW(SymExpr(large) * SymExpr::symbol("s0") * SymExpr(2), Error);
  EXPECT_THAT(error_of("9223372036854775807*s0 + s0"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("3**100"), HasSubstr("does not fit"));
  EXPECT_THAT(error_of("9223372036854775808"), HasSubstr("does not fit in 64 bits at column"));
  EXPECT_THROW(SymExpr(std::numeric_limits<int64_t>::min()) * SymExpr::symbol("s0"), Error);
  EXPECT_EQ(canonical("-9223372036854775807"), "-9223372036854775807");
}

TEST(Sym, ErrorsNameTheColumn) {
  EXPECT_THAT(error_of("s0 + "), HasSubstr("ends early at column 6"));
  EXPECT_THAT(error_of("s0 + $"), HasSubstr("at column 6"));
  EXPECT_THAT(error_of("s0 s1"), HasSubstr("expected the end of the expression at column 4"));
  EXPECT_THAT(error_of("0.5*s0"), HasSubstr("expected an integer"));
  EXPECT_THAT(error_of("sqrt(s0)"), HasSubstr("unknown function 'sqrt' at column 1"));
  EXPECT_THAT(error_of("Mod(s0)"), HasSubstr("does not take 1 arguments"));
  EXPECT_THAT(error_of("s0//0"), HasSubstr("divided by zero"));
  EXPECT_THAT(error_of("s0**-1"), HasSubstr("is not an integer"));
  EXPECT_THAT(error_of("s0 < s1 < s2"), HasSubstr("chain of comparisons"));
  EXPECT_THAT(error_of(""), HasSubstr("ends early"));
  EXPECT_THAT(error_of("(s0"), HasSubstr("expected ')'"));
}

TEST(Sym, HostileTextIsRefusedBeforeTheStackOrMemoryEnds) {
  EXPECT_THAT(error_of(std::string(100000, '(') + "1"), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of(std::string(100000, '~') + "s0"), HasSubstr("nested deeper"));
  std::string powers = "s0";
  for (int i = 0; i < 100000; ++i) powers += "**s0";
  EXPECT_THAT(error_of(powers), HasSubstr("nested deeper"));
  std::string terms = "s0";
  for (int i = 0; i < 20000; ++i) terms += "+a" + std::to_string(i);
  EXPECT_THAT(error_of(terms), HasSubstr("more than 10000 parts"));
  EXPECT_THAT(error_of(std::string((1 << 20) + 1, ' ')), HasSubstr("longer than"));
  EXPECT_EQ(canonical(std::string(5001, '-') + "s0"), "-s0");
  EXPECT_NE(error_of(std::string(1000, 'x')), "");
}

TEST(Sym, AnExpressionCannotGrowBeyondItsBoundsByComposition) {
  SymExpr expr = SymExpr::symbol("s0");
  const auto grow = [&expr] {
    for (int i = 0; i < 200; ++i) expr = SymExpr::make(SymOp::kMod, {expr + 1, expr});
  };
  EXPECT_THROW(grow(), Error);
  EXPECT_LE(expr.size(), 10000);
}

TEST(Sym, WrongUseIsAnInternalError) {
  for (const auto& wrong : {+[] { SymExpr::make(SymOp::kMod, {SymExpr(1)}); }, +[] { SymExpr::symbol("s0").value(); },
                            +[] { SymExpr(1).name(); }, +[] { SymExpr::make(SymOp::kAdd, {}); }}) {
    try {
      wrong();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    }
  }
  EXPECT_THROW(SymExpr::symbol("a b"), Error);
  EXPECT_THROW(SymExpr::symbol("True"), Error);
}

}  // namespace
}  // namespace sapwood::graph
