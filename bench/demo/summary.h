#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/rows.h"
#include "demo/training.h"

namespace sapwood::bench {

/// One line of the comparison, values already formatted.
struct SummaryLine {
  std::string what, eager, sapwood, note;
};

/// The comparison that table and report show.
std::vector<SummaryLine> summary(const DemoResult& result);

/// The same as result rows.
std::vector<Row> result_rows(const DemoResult& result);

/// Writes one self-contained page: curves, memory over a step, saved tensors with reasons, times, machine.
/// Errors: std::runtime_error naming the file if it can't be written.
void write_html(const std::filesystem::path& file, const DemoResult& result);

}  // namespace sapwood::bench
