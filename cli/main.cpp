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
  sapwood::cli::add_run(app, status);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    return std::cout ? status : fail("can't write to standard output");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? sapwood::cli::kGood : sapwood::cli::kBadUsage;
  } catch (const sapwood::Error& error) {
    return fail(error.message());
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}
