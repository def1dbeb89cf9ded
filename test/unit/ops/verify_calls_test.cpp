#include "ops/verify_calls.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/text.h"
#include "unit/partition/corpus.h"

namespace sapwood::ops {
namespace {

/// The rules that a graph with this body breaks, one line each.
std::string broken(const std::string& body) {
  std::string out;
  for (const graph::Violation& v :
       verify_all(graph::parse_any("graph g {\n  %a : float32[2, 3] = placeholder\n" + body + "}\n")))
    out += v.rule + ": " + v.message + "\n";
  return out;
}

TEST(VerifyCalls, EveryCorpusGraphIsSound) {
  for (const std::string& model : test::corpus_models()) {
    const auto found = verify_all(test::corpus_graph(model));
    EXPECT_TRUE(found.empty()) << model << ": " << found.size() << " violations, first " << found[0].rule << ": "
                               << found[0].message;
  }
}

TEST(VerifyCalls, ArgumentsAreThoseOfTheSchema) {
  EXPECT_EQ(broken("  %s = aten.add.Tensor(%a, 2.0, alpha=3)\n  return (%s)\n"), "");
  EXPECT_EQ(broken("  %s = aten.sin.default()\n  return (%s)\n"),
            "call-arguments: node 's' (aten.sin.default): argument 'self' is missing\n");
  EXPECT_EQ(broken("  %s = aten.sin.default(%a, %a, %a)\n  return (%s)\n"),
            "call-arguments: node 's' (aten.sin.default): has 3 positional arguments, but the operator takes 1\n");
  EXPECT_EQ(broken("  %s = aten.sin.default(%a, blah=1)\n  return (%s)\n"),
            "call-arguments: node 's' (aten.sin.default): the operator has no argument 'blah'\n");
  EXPECT_EQ(broken("  %s = aten.sin.default(%a, self=%a)\n  return (%s)\n"),
            "call-arguments: node 's' (aten.sin.default): argument 'self' is given twice\n");
}

TEST(VerifyCalls, ArgumentsHaveTheTypesOfTheSchema) {
  EXPECT_EQ(broken("  %s = aten.sum.dim_IntList(%a, [0, 1], True)\n  return (%s)\n"), "");
  EXPECT_EQ(broken("  %s = aten.sum.dim_IntList(%a, None, dtype=float64)\n  return (%s)\n"), "");
  EXPECT_EQ(broken("  %s = aten.sum.dim_IntList(%a, \"x\")\n  return (%s)\n"),
            "argument-type: node 's' (aten.sum.dim_IntList): argument 'dim' must be of type 'int[1]?'\n");
  EXPECT_EQ(broken("  %s = aten.sin.default(\"x\")\n  return (%s)\n"),
            "argument-type: node 's' (aten.sin.default): argument 'self' must be of type 'Tensor'\n");
  EXPECT_EQ(broken("  %s = aten.cat.default([%a, 1.5])\n  return (%s)\n"), "");  // numbers become tensors
  EXPECT_EQ(broken("  %s = aten.cat.default(%a)\n  return (%s)\n"),
            "argument-type: node 's' (aten.cat.default): argument 'tensors' must be of type 'Tensor[]'\n");
  EXPECT_EQ(broken("  %s = aten.transpose.int(%a, 0.5, 1)\n  return (%s)\n"),
            "argument-type: node 's' (aten.transpose.int): argument 'dim0' must be of type 'int'\n");
}

TEST(VerifyCalls, ValuesAreWhatTheOperatorReturns) {
  EXPECT_EQ(broken("  %s : (float32[2, 3], float32[2, 3]) = aten.sin.default(%a)\n  %t : float32[2, 3] = "
                   "operator.getitem(%s, 0)\n  return (%t)\n"),
            "call-value: node 's' (aten.sin.default): the operator returns 'Tensor', its value is of another kind\n");
  EXPECT_EQ(broken("  %s : float32[2, 3] = aten.native_dropout.default(%a, 0.5, True)\n  return (%s)\n"),
            "call-value: node 's' (aten.native_dropout.default): the operator returns 2 values, its value says "
            "otherwise\n");
}

TEST(VerifyCalls, DeclarationsCanBeReadAndAreOfTheirOperator) {
  const char* text = R"(graph g {
  op aten.sin.default "(((("
  op mine.f.default "mine::g(Tensor a) -> Tensor"
  op mine.h.default "mine::h(Tensor a) -> Tensor"
  %a : float32[2] = placeholder
  %s = mine.h.default(%a, 3)
  %t = mine.f.default(%s)
  %u = aten.sin.default(%t)
  return (%u)
}
)";
  const auto found = verify_all(graph::parse_any(text));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message,
            "the declaration of operator 'aten.sin.default' can't be read: '((((': expected a name of "
            "the form 'namespace::operator'");
  EXPECT_EQ(found[1].message, "operator 'mine.f.default' is declared as 'mine::g(Tensor a) -> Tensor'");
  EXPECT_EQ(found[2].message, "node 's' (mine.h.default): has 2 positional arguments, but the operator takes 1");
}

TEST(VerifyCalls, ThrowingNamesTheFirstAndTheNumber) {
  const auto graph = graph::parse_any("graph g {\n  %s = aten.sin.default()\n  return (%s)\n}\n");
  try {
    verify_all_or_throw(graph, "test");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_EQ(
        error.message(),
        "graph 'g' isn't sound, it breaks a rule; call-arguments: node 's' (aten.sin.default): argument 'self' is "
        "missing");
  }
}

}  // namespace
}  // namespace sapwood::ops
