#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/node.h"

namespace sapwood::graph {

inline constexpr std::string_view kJsonFormat = "sapwood.graph/1";
/// Entry of `custom` that holds a region's memory budget.
inline constexpr std::string_view kRegionBudgetKey = "_region_activation_memory_budget";
/// What PyTorch's optimization hint puts for a size that depends on data.
inline constexpr int64_t kFallbackHint = 4096;

/// "placeholder", "get_attr", "call_function", "output".
std::string_view node_kind_name(NodeKind kind);
bool node_kind_from_name(std::string_view name, NodeKind& kind);

/// "is_forward", ...; empty for kNone.
std::string_view partitioner_tag_name(PartitionerTag tag);
bool partitioner_tag_from_name(std::string_view name, PartitionerTag& tag);

/// "MUST_SAVE", ...; empty for kNone.
std::string_view checkpoint_policy_name(CheckpointPolicy policy);
bool checkpoint_policy_from_name(std::string_view name, CheckpointPolicy& policy);

/// All names of tags and policies and element types, separated by commas, for messages.
std::string partitioner_tag_names();
std::string checkpoint_policy_names();
/// "unknown dtype "flaot32"; did you mean "float32"?" and likewise for the other constants.
std::string unknown_dtype(std::string_view name);
std::string unknown_layout(std::string_view name);
std::string unknown_memory_format(std::string_view name);

/// Why a recorded hint is wrong.
std::string hint_mismatch(std::string_view expression, int64_t recorded, const std::optional<int64_t>& derived);

}  // namespace sapwood::graph
