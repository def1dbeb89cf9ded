#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "check/check.h"

namespace sapwood::check {

// Ids of the rules.
inline constexpr std::string_view kWellFormed = "well-formed";
inline constexpr std::string_view kBackwardInput = "backward-input-exists";
inline constexpr std::string_view kNodeFromJoint = "node-from-joint";
inline constexpr std::string_view kOutputsEqual = "outputs-equal";
inline constexpr std::string_view kRandomOnce = "random-once";
inline constexpr std::string_view kMutation = "mutation-not-read-late";
inline constexpr std::string_view kEffectOnce = "effect-once";
inline constexpr std::string_view kSymbolsBound = "symbols-bound";
inline constexpr std::string_view kInsertionPaired = "insertion-paired";

/// Which graph a finding speaks of.
enum class Part : uint8_t { kJoint, kForward, kBackward, kPlan };

std::string_view part_name(Part part);

/// Collects findings; the same finding is kept once.
class Findings {
 public:
  struct Place {
    Part part;
    std::string node;
  };
  void add(std::string_view rule, const Place& place, std::string message, std::string remedy);
  bool empty() const { return found_.empty(); }
  /// In the order of `rules()`, otherwise as they were added.
  std::vector<Finding> sorted() &&;

 private:
  std::vector<Finding> found_;
};

}  // namespace sapwood::check
