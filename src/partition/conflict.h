#pragma once

#include <string>
#include <vector>

namespace sapwood::partition {

/// A stop on the way from a value that can't be recomputed to one that the backward needs.
struct ConflictStep {
  std::string node;
  std::vector<std::string> rules;  ///< what holds for it: "cannot recompute: reduction op", "reads 'sort'"
};

/// Why no minimum cut exists: a chain of values of which none may be saved, from one that may not be recomputed to one
/// that the backward needs. Data, to be printed or drawn.
struct Conflict {
  std::vector<ConflictStep> steps;  ///< in the direction of the data
  std::string path;                 ///< "source -> sort_in -> sort_out -> getitem_in -> sink"

  /// Several sentences: the nodes, the rule at each, and what to change.
  std::string text() const;
  /// A picture of its own: the chain from top to bottom, a box per value with its rules.
  std::string svg() const;
};

}  // namespace sapwood::partition
