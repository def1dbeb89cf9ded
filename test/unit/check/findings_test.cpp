#include "check/findings.h"

#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <set>

#include "unit/check/written_pair.h"

namespace sapwood::check {
namespace {

TEST(Findings, RulesHaveIdsAndDescriptions) {
  std::set<std::string> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_EQ(rule.description.back(), '.') << rule.id;
  }
  EXPECT_EQ(ids.size(), 9U);
}

TEST(Findings, AreListedByRuleAndOnce) {
  Findings findings;
  findings.add(kEffectOnce, {Part::kForward, "b"}, "B.", "Do.");
  findings.add(kWellFormed, {Part::kPlan, "a"}, "A.", "Do.");
  findings.add(kEffectOnce, {Part::kForward, "b"}, "B.", "Do.");
  const auto sorted = std::move(findings).sorted();
  ASSERT_EQ(sorted.size(), 2U);
  EXPECT_EQ(sorted[0].node, "a");
  EXPECT_EQ(describe(sorted[1]), "forward, node 'b' [effect-once]: B. Remedy: Do.");
  EXPECT_EQ(to_json(sorted[0]).dump(),
            R"({"rule":"well-formed","graph":"plan","node":"a","message":"A.","remedy":"Do."})");
}

TEST(Findings, ADamagedGraphIsReportedAsSuch) {
  const test::WrittenPair pair = {"num_forward_outputs 1\n %primals_1 : float32[4] = placeholder return (%primals_1)",
                                  "%primals_1 : float32[4] = placeholder return (%primals_1)", "return ()"};
  EXPECT_TRUE(test::findings(pair).empty());
  test::WrittenPair damaged = pair;
  damaged.forward = "%primals_1 : float32[4] = placeholder %x : float32[4] = nonsense(%primals_1) return (%x)";
  EXPECT_EQ(test::broken(damaged), std::set<std::string>{"well-formed"});
}

/// A chain of `length` cosines and its gradient; every cosine's input is saved.
struct Chain {
  explicit Chain(int length) {
    const std::string type = "float32[4]";
    add(joint, "primals_1 : " + type + " = placeholder");
    add(forward, "primals_1 : " + type + " = placeholder");
    std::string saved = "%primals_1";
    std::string before = "primals_1";
    add(backward, "primals_1 : " + type + " = placeholder");
    add(joint, "tangents_1 : " + type + " = placeholder");
    for (int i = 0; i < length; ++i) {
      const std::string name = "cos_" + std::to_string(i);
      add(joint, name + " : " + type + " = aten.cos.default(%" + before + ")");
      add(forward, name + " : " + type + " = aten.cos.default(%" + before + ")");
      if (i + 1 < length) add(backward, name + " : " + type + " = placeholder");
      if (i + 1 < length) saved += ", %" + name;
      before = name;
    }
    add(backward, "tangents_1 : " + type + " = placeholder");
    std::string gradient = "tangents_1";
    for (int i = length - 1; i >= 0; --i) {
      const std::string n = std::to_string(i);
      const std::string input = i == 0 ? "primals_1" : "cos_" + std::to_string(i - 1);
      for (std::string* part : {&joint, &backward}) {
        add(*part, "sin_" + n + " : " + type + " = aten.sin.default(%" + input + ")");
        add(*part, "mul_" + n + " : " + type + " = aten.mul.Tensor(%" + gradient + ", %sin_" + n + ")");
      }
      gradient = "mul_" + n;
    }
    joint = "num_forward_outputs 1\n" + joint + "return (%" + before + ", %" + gradient + ")";
    forward += "return (%" + before + ", " + saved + ")";
    backward += "return (%" + gradient + ")";
  }
  static void add(std::string& text, const std::string& line) { text += "%" + line + "\n"; }

  std::string joint;
  std::string forward;
  std::string backward;
};

TEST(Findings, AHundredThousandNodesAreCheckedQuickly) {
  const Chain chain(33'000);
  const graph::Graph joint = test::written(chain.joint);
  const graph::Graph forward = test::written(chain.forward);
  const graph::Graph backward = test::written(chain.backward);
  const std::clock_t start = std::clock();
  const auto found = check_pair(joint, forward, backward);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_TRUE(found.empty()) << describe(found.front());
  std::cout << "  " << joint.size() << " nodes in the joint graph: " << seconds << " s\n";
  EXPECT_LT(seconds, 10.0) << "quadratic work would take minutes";
}

}  // namespace
}  // namespace sapwood::check
