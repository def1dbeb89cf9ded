#pragma once

#include <CLI/CLI.hpp>

#include "partition/options.h"

namespace sapwood::cli {

/// Gives `command` an option for every row of the partitioner's option table. What is set is written to `options`,
/// which outlives the parsing.
void add_partition_options(CLI::App& command, partition::PartitionOptions& options);

/// `options` as they were set, checked, with the estimator "profile" connected to measured runs of the operators.
/// Errors: user error for values out of range.
partition::PartitionOptions ready_options(const partition::PartitionOptions& options);

}  // namespace sapwood::cli
