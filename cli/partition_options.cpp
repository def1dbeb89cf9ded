#include "cli/partition_options.h"

#include <algorithm>

#include "base/error.h"
#include "interp/profile.h"

namespace sapwood::cli {

namespace {

using partition::OptionRow;
using partition::PartitionOptions;

void add_row(CLI::App& command, PartitionOptions& options, const OptionRow& row) {
  const std::string flag = "--" + std::string(row.flag);
  const std::string now = partition::option_text(options, row);
  const std::string help = std::string(row.help) + " [" + now + "]";
  const auto set = [&options, &row](const std::string& text) { partition::set_option(options, row, text); };
  if (std::holds_alternative<OptionRow::At<bool>>(row.field)) {
    command.add_flag_callback(flag, [set] { set("true"); }, help);
    command.add_flag_callback("--no-" + std::string(row.flag), [set] { set("false"); })->group("");
    return;
  }
  const auto checked = [set](const std::string& text) -> std::string {
    try {
      set(text);
    } catch (const Error& error) {
      return error.message();
    }
    return {};
  };
  CLI::Option* option = command.add_option_function<std::string>(flag, set, help)->check(checked);
  std::string choices;
  for (const std::string_view word : partition::option_choices(row))
    if (word != "custom") choices += (choices.empty() ? "" : "|") + std::string(word);
  option->type_name(choices.empty() ? "NUMBER" : choices);
}

}  // namespace

void add_partition_options(CLI::App& command, PartitionOptions& options) {
  for (const OptionRow& row : partition::option_table()) add_row(command, options, row);
}

PartitionOptions ready_options(const PartitionOptions& options) {
  PartitionOptions ready = options;
  if (ready.activation_memory_budget_runtime_estimator == partition::Estimator::kProfile)
    ready.runtime_of = interp::measured_runtime();
  partition::check_options(ready);
  return ready;
}

}  // namespace sapwood::cli
