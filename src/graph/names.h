#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sapwood::graph {

/// A node name taken apart: "mm_3" is base "mm" with suffix 3, "mm" has no suffix.
struct NameParts {
  std::string_view base;
  std::optional<int64_t> suffix;
};

/// Splits a trailing "_<digits>" off. A suffix that doesn't fit in 62 bits belongs to the base.
NameParts split_name(std::string_view name);

/// `wanted` with every character that an identifier can't have replaced by '_' ("_unnamed" if it is empty).
std::string legal_name(std::string_view wanted);

/// Whether `name` is an identifier: [A-Za-z_][A-Za-z0-9_]*.
bool is_legal_name(std::string_view name);

/// Python keywords and builtins ("sum", "input"): a node never gets such a name by itself, so that names agree with
/// FX's.
bool is_python_name(std::string_view name);

/// The name that a call of `target` asks for: "aten.mm.default" -> "mm", "aten._softmax.default" -> "_softmax",
/// "operator.getitem" -> "getitem", "higher_order.cond" -> "cond".
std::string base_name_of_target(std::string_view target);

}  // namespace sapwood::graph
