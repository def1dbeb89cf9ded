#include "check/findings.h"

#include <algorithm>

namespace sapwood::check {
namespace {

size_t rank(const std::string& rule) {
  const auto& all = rules();
  return static_cast<size_t>(std::ranges::find(all, rule, &Rule::id) - all.begin());
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {std::string(kWellFormed), "All three graphs keep the invariants of the graph form."},
      {std::string(kBackwardInput),
       "Each input of a part is an input of the joint graph that belongs there, or is handed over by the forward at "
       "the "
       "same place, under the same name and with the same type."},
      {std::string(kNodeFromJoint),
       "Each node of the pair computes a value of the joint graph, or is one of the known insertions."},
      {std::string(kOutputsEqual), "Each output has the value that the joint graph returns at that place."},
      {std::string(kRandomOnce),
       "No random operator draws twice, unless the second draw is replayed from the state of the first, and the "
       "forward draws in the order of the joint graph."},
      {std::string(kMutation),
       "Whatever reads memory that is overwritten reads it in the same state as in the joint graph."},
      {std::string(kEffectOnce),
       "Each effect of the joint graph (write, collective, effectful operator) happens once, in its part and in "
       "order."},
      {std::string(kSymbolsBound), "Each symbolic size that a part needs can be derived from its inputs."},
      {std::string(kInsertionPaired),
       "What is offloaded is loaded again on its device, and what is quantised is converted back with its own scale."},
  };
  return all;
}

std::string_view part_name(Part part) {
  switch (part) {
    case Part::kJoint:
      return "joint";
    case Part::kForward:
      return "forward";
    case Part::kBackward:
      return "backward";
    case Part::kPlan:
      return "plan";
  }
  return "";
}

void Findings::add(std::string_view rule, const Place& place, std::string message, std::string remedy) {
  found_.push_back(
      {std::string(rule), std::string(part_name(place.part)), place.node, std::move(message), std::move(remedy)});
}

std::vector<Finding> Findings::sorted() && {
  std::ranges::stable_sort(found_, {}, [](const Finding& finding) { return rank(finding.rule); });
  found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
  return std::move(found_);
}

std::string describe(const Finding& finding) {
  std::string text = finding.graph;
  if (!finding.node.empty()) text += ", node '" + finding.node + "'";
  text += " [" + finding.rule + "]: " + finding.message;
  if (!finding.remedy.empty()) text += " Remedy: " + finding.remedy;
  return text;
}

nlohmann::ordered_json to_json(const Finding& finding) {
  return {{"rule", finding.rule},
          {"graph", finding.graph},
          {"node", finding.node},
          {"message", finding.message},
          {"remedy", finding.remedy}};
}

}  // namespace sapwood::check
