#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "graph/text.h"
#include "ops/verify_calls.h"
#include "partition/pair.h"

namespace sapwood::test {

using Lines = std::vector<std::string>;

/// The nodes of a graph as the text form writes them, without facts.
inline Lines node_lines(const graph::Graph& graph) {
  const std::string text = graph::print_text(graph, {.metadata = false, .declarations = false});
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    line.erase(0, line.find_first_not_of(' ') == std::string::npos ? line.size() : line.find_first_not_of(' '));
    // Numbers of storages are checked where it matters; what shares one is written as an alias.
    if (const size_t at = line.find("<storage="); at != std::string::npos) line.erase(at, line.find('>', at) + 1 - at);
    if (const size_t at = line.find(", storage="); at != std::string::npos) line.erase(at, line.find('>', at) - at);
    if (line.starts_with('%') || line.starts_with("return")) lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

/// Those that aren't placeholders.
inline Lines call_lines(const graph::Graph& graph) {
  Lines lines = node_lines(graph);
  std::erase_if(lines, [](const std::string& line) { return line.find("= placeholder") != std::string::npos; });
  return lines;
}

inline Lines node_names(const graph::Graph& graph) {
  Lines names;
  for (const graph::NodeId id : graph.order()) names.push_back(graph[id].name);
  return names;
}

inline Lines placeholder_names(const graph::Graph& graph) {
  Lines names;
  for (const graph::NodeId id : graph.placeholders()) names.push_back(graph[id].name);
  return names;
}

inline Lines output_names(const graph::Graph& graph) {
  Lines names;
  for (const graph::NodeId id : graph.output_values()) names.push_back(id == graph::kNoNode ? "None" : graph[id].name);
  return names;
}

inline int64_t count_calls(const graph::Graph& graph, std::string_view target) {
  const std::vector<graph::NodeId> order = graph.order();
  return std::ranges::count_if(order, [&](graph::NodeId id) { return graph[id].is_call(target); });
}

inline partition::ForwardBackward parse_pair(const std::string& forward, const std::string& backward) {
  return {graph::parse_any("graph pair.forward {\n" + forward + "}\n"),
          graph::parse_any("graph pair.backward {\n" + backward + "}\n")};
}

inline void expect_sound(const graph::Graph& graph) {
  for (const graph::Violation& v : ops::verify_all(graph))
    ADD_FAILURE() << graph.name << ": " << v.rule << ": " << v.message;
}

/// Both graphs keep the rules of the IR, and the backward takes nothing but what the forward hands over, tangents and
/// seeds.
inline void expect_sound(const partition::ForwardBackward& pair) {
  expect_sound(pair.forward);
  expect_sound(pair.backward);
  const Lines handed = output_names(pair.forward);
  const std::set<std::string> outputs(handed.begin(), handed.end());
  for (const graph::NodeId id : pair.backward.placeholders())
    EXPECT_TRUE(outputs.contains(pair.backward[id].name) || partition::is_tangent_or_seed(pair.backward[id]))
        << pair.backward.name << " takes '" << pair.backward[id].name << "', which the forward doesn't return";
  // The same value is the same on both sides.
  for (const graph::NodeId id : pair.forward.output_values()) {
    if (id == graph::kNoNode || !pair.forward[id].tensor()) continue;
    const graph::NodeId input = pair.backward.find(pair.forward[id].name);
    if (input == graph::kNoNode || pair.backward[input].kind != graph::NodeKind::kPlaceholder) continue;
    graph::TensorMeta given = *pair.forward[id].tensor();
    graph::TensorMeta taken = *pair.backward[input].tensor();
    given.storage = taken.storage = 0;
    EXPECT_TRUE(given == taken) << pair.forward[id].name;
  }
}

}  // namespace sapwood::test
