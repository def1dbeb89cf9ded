#include <memory>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "partition/plan_file.h"

namespace sapwood::cli {

namespace {

struct Options {
  std::string before;
  std::string after;
  bool exit_code = false;
};

}  // namespace

void add_plan(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plan", "Work with plans that 'partition --save-plan' wrote");
  command->require_subcommand(1);
  CLI::App* diff = command->add_subcommand("diff", "What a plan saves and recomputes otherwise than another");
  diff->add_option("before", options->before, "File with a plan")->required();
  diff->add_option("after", options->after, "File with the other plan")->required();
  diff->add_flag("--exit-code", options->exit_code, "Status 1 if the plans differ");
  diff->callback([options, &status] {
    const std::string text = partition::diff_plans(read_file(options->before), read_file(options->after));
    write_output("-", text.empty() ? "the plans are equal\n" : text);
    if (options->exit_code && !text.empty()) status = kBadInput;
  });
}

}  // namespace sapwood::cli
