#include <algorithm>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "cli/commands.h"
#include "sapwood/version.h"

namespace {

int fail(const std::string& message) {
  std::cerr << "sapwood: " << message << "\n";
  return sapwood::cli::kBadInput;
}

int finish(int status) {
  std::cout.flush();
  return std::cout ? status : fail("can't write to standard output");
}

/// Reports a wrong command line. `--help` and `--version` arrive here too.
int exit_with(const CLI::App& app, const CLI::ParseError& error, const std::string& first) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_first = [&](const CLI::App* command) { return command->get_name() == first; };
  if (!first.empty() && first.front() != '-' && std::ranges::none_of(commands, is_first)) {
    std::cerr << "sapwood: there is no command '" << first << "'; there are";
    for (const CLI::App* command : commands) std::cerr << ' ' << command->get_name();
    std::cerr << " (see sapwood --help)\n";
    return sapwood::cli::kBadUsage;
  }
  return app.exit(error) == 0 ? finish(sapwood::cli::kGood) : sapwood::cli::kBadUsage;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Looks into graphs of training steps: prints, checks, partitions and runs them.", "sapwood");
  app.set_version_flag("--version", std::string("sapwood ") + SAPWOOD_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Graphs are read as JSON (sapwood.graph/1) or text, compressed with zstd or not; \"-\" is standard input.\n"
      "Exit status: 0 good, 1 the input is wrong, 2 the command line is wrong.");
  int status = sapwood::cli::kGood;
  sapwood::cli::add_print(app, status);
  sapwood::cli::add_verify(app, status);
  sapwood::cli::add_partition(app, status);
  sapwood::cli::add_explain(app, status);
  sapwood::cli::add_pareto(app, status);
  sapwood::cli::add_plan(app, status);
  sapwood::cli::add_draw(app, status);
  sapwood::cli::add_stats(app, status);
  sapwood::cli::add_check_plan(app, status);
  sapwood::cli::add_run(app, status);
  try {
    app.parse(argc, argv);
    return finish(status);
  } catch (const CLI::ParseError& error) {
    return exit_with(app, error, argc > 1 ? argv[1] : "");
  } catch (const sapwood::Error& error) {
    return fail(error.message());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
