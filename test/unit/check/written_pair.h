#pragma once

#include <set>
#include <string>
#include <string_view>

#include "check/check.h"
#include "graph/text.h"

namespace sapwood::test {

/// A joint graph and a pair in text form, without the outer braces.
struct WrittenPair {
  std::string joint;
  std::string forward;
  std::string backward;
};

inline graph::Graph written(const std::string& lines) { return graph::parse_text("graph g {\n" + lines + "\n}"); }

inline std::vector<check::Finding> findings(const WrittenPair& pair, const check::PairOptions& options = {}) {
  return check::check_pair(written(pair.joint), written(pair.forward), written(pair.backward), options);
}

/// The rules that are broken, each once.
inline std::set<std::string> broken(const std::vector<check::Finding>& found) {
  std::set<std::string> rules;
  for (const check::Finding& finding : found) rules.insert(finding.rule);
  return rules;
}

inline std::set<std::string> broken(const WrittenPair& pair, const check::PairOptions& options = {}) {
  return broken(findings(pair, options));
}

/// `text` with the first occurrence of `from` replaced; fails loudly if there is none.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);  // at npos: throws std::out_of_range
}

}  // namespace sapwood::test
