#pragma once

#include <CLI/CLI.hpp>

namespace sapwood::cli {

/// What a subcommand leaves behind: the exit status of the program.
inline constexpr int kGood = 0;
inline constexpr int kBadInput = 1;  ///< the input is wrong, or the work can't be done on it
inline constexpr int kBadUsage = 2;  ///< the command line is wrong

// Each adds one subcommand to `app`. Its work is done when the command line is parsed; it sets `status` (kGood before)
// and throws sapwood::Error where the input is wrong. `app` and `status` outlive the parsing.
void add_print(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_partition(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);

}  // namespace sapwood::cli
