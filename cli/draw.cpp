#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/diagram.h"
#include "cli/files.h"
#include "cli/graphviz.h"

namespace sapwood::cli {

namespace {

struct Options {
  std::string input = "-";
  std::string output = "-";
};

void draw(const Options& options) {
  const std::string dot = diagram(load_graph(options.input));
  const std::string ending = std::filesystem::path(options.output).extension().string();
  const bool is_source = options.output == "-" || ending == ".dot" || ending == ".gv";
  write_output(options.output, is_source ? dot : render(dot, ending.empty() ? "svg" : ending.substr(1)));
}

}  // namespace

void add_draw(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("draw", "Draw a graph: forward blue, backward orange, optimizer green");
  command->add_option("graph", options->input, "File with the graph, or - for standard input")->capture_default_str();
  command
      ->add_option("-o,--output", options->output,
                   "File for the picture; its ending says the form (.svg, .png, .pdf: graphviz draws; .dot: its "
                   "source). - is the source on standard output")
      ->capture_default_str();
  command->callback([options] { draw(*options); });
}

}  // namespace sapwood::cli
