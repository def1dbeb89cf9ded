// Random joint graphs as sapwood.graph/1 files, and smaller graphs that show the same defect. Needs no libtorch.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "graph/text.h"
#include "random/joint_graphs.h"

namespace {

namespace fs = std::filesystem;
using sapwood::graph::Graph;

struct Options {
  uint32_t first = 1;
  uint32_t count = 1;
  sapwood::test::RandomJointOptions graphs;
  fs::path folder;
  fs::path from;
  fs::path to;
};

/// One folder per seed, as a corpus has one per model.
void generate(const Options& options) {
  for (uint32_t seed = options.first; seed < options.first + options.count; ++seed) {
    Graph graph = sapwood::test::random_joint_graph(options.graphs, seed);
    graph.name = "random_" + std::to_string(seed);
    const fs::path folder = options.folder / graph.name;
    fs::create_directories(folder);
    sapwood::write_file_atomically(folder / "graph.json", sapwood::graph::print_json(graph));
  }
}

/// Asks whoever reads our output: a graph on a line; the answer is a line, "fails" or anything else.
bool ask(const Graph& graph) {
  std::string text = sapwood::graph::print_json(graph);
  std::ranges::replace(text, '\n', ' ');
  std::cout << text << std::endl;
  std::string answer;
  if (!std::getline(std::cin, answer)) sapwood::throw_user("random_graphs", "no answer came to the last graph");
  return answer == "fails";
}

void shrink(const Options& options) {
  Graph graph = sapwood::graph::parse_any(sapwood::read_file(options.from));
  graph = sapwood::test::shrink(std::move(graph), ask);
  sapwood::write_file_atomically(options.to, sapwood::graph::print_json(graph));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes random joint graphs, and makes one smaller.", "random_joint_graphs");
  app.require_subcommand(1);
  Options options;
  CLI::App* write = app.add_subcommand("generate", "Writes FOLDER/random_<seed>/graph.json for a range of seeds");
  write->add_option("folder", options.folder)->required();
  write->add_option("--first", options.first, "First seed");
  write->add_option("--count", options.count, "How many seeds");
  write->add_option("--operators", options.graphs.max_operators, "Most operators of a forward")->check(CLI::Range(1, 10000));
  CLI::App* smaller = app.add_subcommand("shrink", "Prints graphs, reads 'fails' or 'works' for each, writes the smallest");
  smaller->add_option("from", options.from)->required()->check(CLI::ExistingFile);
  smaller->add_option("to", options.to)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    write->parsed() ? generate(options) : shrink(options);
  } catch (const std::exception& error) {
    std::cerr << "random_joint_graphs: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
