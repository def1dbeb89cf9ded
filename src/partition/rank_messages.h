#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace sapwood::partition {

/// What ranks tell each other about their plans. The readers trust nothing: whatever isn't exactly what the writer
/// makes gives nothing. Numbers are little-endian on every machine.

/// The message that every rank sends: 34 bytes.
struct PlanHash {
  bool has_collectives = false;
  bool names_unknown_node = false;  ///< the plan is wrong by itself
  Hash128 graph;
  Hash128 plan;
};

std::string write_hash(const PlanHash& hash);
std::optional<PlanHash> read_hash(std::string_view bytes);

/// The names of a plan's values. A message with a name given twice is not a plan.
std::string write_plan(const std::vector<std::string>& names);
std::optional<std::vector<std::string>> read_plan(std::string_view bytes);

/// Bytes per plan. None is negative.
std::string write_totals(const std::vector<int64_t>& totals);
std::optional<std::vector<int64_t>> read_totals(std::string_view bytes, size_t count);

}  // namespace sapwood::partition
