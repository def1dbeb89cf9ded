#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace sapwood::cli {

/// What a subcommand leaves behind: the exit status of the program.
inline constexpr int kGood = 0;
inline constexpr int kBadInput = 1;  ///< the input is wrong, or the work can't be done on it
inline constexpr int kBadUsage = 2;  ///< the command line is wrong

/// Accepts whole numbers from 0 to the largest `Number`. (CLI11's own conversion wraps and saturates.)
template <typename Number>
CLI::Validator whole_number() {
  return {[](const std::string& text) {
            Number value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && end == text.data() + text.size() && value >= 0) return std::string();
            return "'" + text + "' isn't a whole number from 0 to " +
                   std::to_string(std::numeric_limits<Number>::max());
          },
          ""};
}

// Each adds one subcommand to `app`. Its work is done when the command line is parsed; it sets `status` (kGood before)
// and throws sapwood::Error where the input is wrong. `app` and `status` outlive the parsing.
void add_print(CLI::App& app, int& status);
void add_verify(CLI::App& app, int& status);
void add_partition(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_explain(CLI::App& app, int& status);
void add_pareto(CLI::App& app, int& status);
void add_plan(CLI::App& app, int& status);
void add_draw(CLI::App& app, int& status);
void add_stats(CLI::App& app, int& status);
void add_check_plan(CLI::App& app, int& status);

}  // namespace sapwood::cli
