#include "graph/json_names.h"

#include <array>
#include <utility>
#include <vector>

#include "base/suggest.h"

namespace sapwood::graph {

namespace {

constexpr std::array<std::string_view, 4> kKinds = {"placeholder", "get_attr", "call_function", "output"};
constexpr std::array<std::string_view, 6> kTags = {
    "", "is_forward", "is_backward", "must_be_in_forward", "must_be_in_backward", "is_optimizer"};
constexpr std::array<std::string_view, 7> kPolicies = {
    "", "MUST_SAVE", "PREFER_SAVE", "MUST_RECOMPUTE", "PREFER_RECOMPUTE", "MUST_CPU_OFFLOAD", "PREFER_CPU_OFFLOAD"};

template <typename Enum, size_t N>
bool from_name(const std::array<std::string_view, N>& names, std::string_view name, Enum& out) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i].empty() || names[i] != name) continue;
    out = static_cast<Enum>(i);
    return true;
  }
  return false;
}

template <size_t N>
std::string listed(const std::array<std::string_view, N>& names) {
  std::string out;
  for (const std::string_view name : names) {
    if (!name.empty()) out += (out.empty() ? "" : ", ") + std::string(name);
  }
  return out;
}

template <typename Enum>
std::string unknown(std::string_view what, std::string_view name, Enum last, std::string_view (*name_of)(Enum)) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i) names.push_back(name_of(static_cast<Enum>(i)));
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) {
    for (const std::string_view n : names) hint += (hint.empty() ? "; expected one of " : ", ") + std::string(n);
  }
  return "unknown " + std::string(what) + " " + quoted_excerpt(name) + hint;
}

}  // namespace

std::string_view node_kind_name(NodeKind kind) { return kKinds[static_cast<size_t>(kind)]; }
bool node_kind_from_name(std::string_view name, NodeKind& kind) { return from_name(kKinds, name, kind); }

std::string_view partitioner_tag_name(PartitionerTag tag) { return kTags[static_cast<size_t>(tag)]; }
bool partitioner_tag_from_name(std::string_view name, PartitionerTag& tag) { return from_name(kTags, name, tag); }

std::string_view checkpoint_policy_name(CheckpointPolicy policy) { return kPolicies[static_cast<size_t>(policy)]; }
bool checkpoint_policy_from_name(std::string_view name, CheckpointPolicy& policy) {
  return from_name(kPolicies, name, policy);
}

std::string partitioner_tag_names() { return listed(kTags); }
std::string checkpoint_policy_names() { return listed(kPolicies); }

std::string unknown_dtype(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (last != name && dtype_from_name(last))
    return "unknown dtype " + quoted_excerpt(name) + "; write " + std::string(last);
  return unknown("dtype", name, kLastDType, dtype_name);
}
std::string unknown_layout(std::string_view name) { return unknown("layout", name, Layout::kJagged, layout_name); }
std::string unknown_memory_format(std::string_view name) {
  return unknown("memory format", name, MemoryFormat::kChannelsLast3d, memory_format_name);
}

std::string hint_mismatch(std::string_view expression, int64_t recorded, const std::optional<int64_t>& derived) {
  const std::string found = derived ? "gives " + std::to_string(*derived) : "gives none";
  return "hint " + std::to_string(recorded) + " is recorded for " + quoted_excerpt(expression) +
         ", but the symbol table " + found + "; correct the hint or the symbols";
}

}  // namespace sapwood::graph
