// Right pairs are made wrong by machine; every wrong one has to be convicted, by the right rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "check/check.h"
#include "partition/partition.h"
#include "unit/check/mutations.h"
#include "unit/partition/corpus.h"

namespace sapwood::check {
namespace {

using test::Mutant;
using test::Mutation;
using test::Subject;

constexpr uint64_t kSeeds = 3;

/// Pairs that the two methods make of a model's joint graph.
std::vector<Subject> subjects_of(const std::string& model) {
  std::vector<Subject> subjects;
  for (const auto method : {partition::Method::kMinCut, partition::Method::kDefault}) {
    partition::PartitionOptions options;
    options.method = method;
    graph::Graph joint = test::corpus_graph(model);
    const partition::Plan plan = partition::partition(joint, options);
    partition::ForwardBackward parts = partition::extract(joint, plan);
    const std::string name = model + (method == partition::Method::kMinCut ? ", min cut" : ", default");
    subjects.push_back({name, std::move(joint), {std::move(parts.forward), std::move(parts.backward)}});
  }
  return subjects;
}

std::string text(const std::vector<Finding>& findings) {
  std::string all;
  for (size_t i = 0; i < findings.size() && i < 3; ++i) all += "\n  " + describe(findings[i]);
  return findings.empty() ? " nothing" : all;
}

/// Makes mutants of every subject and counts them by mutation. `at_least`: how many each mutation has to give.
void expect_convictions(const std::vector<Mutation>& mutations, int at_least) {
  std::map<std::string, int> made;
  for (const std::string& model : test::corpus_models()) {
    for (const Subject& subject : subjects_of(model)) {
      for (size_t i = 0; i < mutations.size(); ++i) {
        for (uint64_t seed = 0; seed < kSeeds; ++seed) {
          test::Random random(seed * 1000 + i);
          const std::optional<Mutant> mutant = mutations[i].make(subject, random);
          if (!mutant) continue;
          ++made[mutations[i].name];
          const auto findings = check_pair(subject.joint, mutant->pair.forward, mutant->pair.backward);
          const bool convicted = std::ranges::any_of(findings, [&](const Finding& finding) {
            return std::ranges::find(mutations[i].expected, finding.rule) != mutations[i].expected.end();
          });
          EXPECT_TRUE(convicted) << subject.name << ", seed " << seed << ", " << mutations[i].name << ": "
                                 << mutant->what << "; found" << text(findings);
        }
      }
    }
  }
  for (const Mutation& mutation : mutations) {
    EXPECT_GE(made[mutation.name], at_least) << mutation.name;
    testing::Test::RecordProperty(mutation.name, made[mutation.name]);
    std::cout << "  " << made[mutation.name] << " x " << mutation.name << "\n";
  }
}

TEST(Conviction, WrongHandoverIsFound) { expect_convictions(test::handover_mutations(), 6); }

TEST(Conviction, WrongOutputsAreFound) { expect_convictions(test::output_mutations(), 30); }

TEST(Conviction, WrongNodesAreFound) { expect_convictions(test::node_mutations(), 100); }

TEST(Conviction, WrongDrawsAreFound) { expect_convictions(test::random_mutations(), 5); }

TEST(Conviction, WrongEffectsAreFound) { expect_convictions(test::effect_mutations(), 3); }

}  // namespace
}  // namespace sapwood::check
