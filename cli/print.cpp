#include <memory>

#include "cli/commands.h"
#include "cli/diagram.h"
#include "cli/files.h"
#include "graph/text.h"

namespace sapwood::cli {

namespace {

struct Options {
  std::string input = "-";
  std::string output = "-";
  bool json = false;
  bool dot = false;
  bool brief = false;
};

void print(const Options& options) {
  const graph::Graph graph = load_graph(options.input);
  if (options.json) return write_output(options.output, graph::print_json(graph));
  if (options.dot) return write_output(options.output, diagram(graph));
  write_output(options.output, graph::print_text(graph, {.metadata = !options.brief, .declarations = !options.brief}));
}

}  // namespace

void add_print(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("print", "Print a graph as text, JSON or diagram");
  command->add_option("graph", options->input, "File with the graph, or - for standard input")->capture_default_str();
  command->add_option("-o,--output", options->output, "File to write, or - for standard output")->capture_default_str();
  auto* form = command->add_option_group("form", "The form; text if none is given")->require_option(0, 1);
  form->add_flag("--json", options->json, "JSON (sapwood.graph/1)");
  form->add_flag("--dot", options->dot, "A diagram for graphviz: forward blue, backward orange, optimizer green");
  form->add_flag("--brief", options->brief, "Text without metadata and declarations");
  command->callback([options] { print(*options); });
}

}  // namespace sapwood::cli
