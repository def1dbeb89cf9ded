#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "unit/check/pair_edit.h"

namespace sapwood::test {

/// A wrong pair and what was done to it.
struct Mutant {
  GraphPair pair;
  std::string what;
};

/// One way to make a right pair wrong.
struct Mutation {
  std::string name;
  std::vector<std::string> expected;  ///< one of these rules has to convict
  /// Nothing if the subject has no place for it.
  std::function<std::optional<Mutant>(const Subject&, Random&)> make;
};

std::vector<Mutation> handover_mutations();
std::vector<Mutation> output_mutations();
std::vector<Mutation> node_mutations();
std::vector<Mutation> random_mutations();
std::vector<Mutation> effect_mutations();

}  // namespace sapwood::test
