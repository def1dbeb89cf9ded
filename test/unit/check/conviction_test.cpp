// Right pairs are made wrong by machine; every wrong one has to be convicted, by the right rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

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

/// Makes one mutant and checks it; says whether the subject had a place for it.
bool convict(const Subject& subject, const Mutation& mutation, uint64_t seed) {
  test::Random random(seed);
  const std::optional<Mutant> mutant = mutation.make(subject, random);
  if (!mutant) return false;
  const auto findings = check_pair(subject.joint, mutant->pair.forward, mutant->pair.backward);
  const bool convicted = std::ranges::any_of(findings, [&](const Finding& finding) {
    return std::ranges::find(mutation.expected, finding.rule) != mutation.expected.end();
  });
  EXPECT_TRUE(convicted) << subject.name << ", seed " << seed << ", " << mutation.name << ": " << mutant->what
                         << "; found" << text(findings);
  return true;
}

/// Makes mutants of every subject and counts them by mutation. `at_least`: how many each mutation has to give.
void expect_convictions(const std::vector<Mutation>& mutations, int at_least) {
  std::vector<int> made(mutations.size(), 0);
  const auto convict_all = [&](const Subject& subject) {
    for (size_t i = 0; i < mutations.size(); ++i)
      for (uint64_t seed = 0; seed < kSeeds; ++seed) made[i] += convict(subject, mutations[i], seed * 1000 + i);
  };
  for (const std::string& model : test::corpus_models()) std::ranges::for_each(subjects_of(model), convict_all);
  for (size_t i = 0; i < mutations.size(); ++i) {
    EXPECT_GE(made[i], at_least) << mutations[i].name;
    std::cout << "  " << made[i] << " x " << mutations[i].name << "\n";
  }
}

TEST(Conviction, WrongHandoverIsFound) { expect_convictions(test::handover_mutations(), 6); }

TEST(Conviction, WrongOutputsAreFound) { expect_convictions(test::output_mutations(), 30); }

TEST(Conviction, WrongNodesAreFound) { expect_convictions(test::node_mutations(), 100); }

TEST(Conviction, WrongDrawsAreFound) { expect_convictions(test::random_mutations(), 5); }

TEST(Conviction, WrongEffectsAreFound) { expect_convictions(test::effect_mutations(), 3); }

}  // namespace
}  // namespace sapwood::check
