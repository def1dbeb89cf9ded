// Compares our partitioner with recorded decisions of PyTorch's, for every graph and configuration in a folder of the form
// <folder>/<model>/{graph,decisions}.json[.zst]. The last line is "parity: E equal of N"; status 0 only if all are.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/unpack.h"
#include "graph/text.h"
#include "oracle/decision.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using sapwood::oracle::Comparison;
using sapwood::oracle::Verdict;

struct Options {
  fs::path folder;
  std::vector<std::string> models;
  bool deep = false;
  bool quiet = false;
};

struct Tally {
  std::vector<std::string> configurations;  // in order of first appearance
  std::map<std::string, std::map<std::string, char>> matrix;
  std::vector<std::string> failures;
  int equal = 0;
  int compared = 0;
};

std::optional<fs::path> find_file(const fs::path& folder, const std::string& stem) {
  for (const char* ending : {".json.zst", ".json"})
    if (fs::exists(folder / (stem + ending))) return folder / (stem + ending);
  return std::nullopt;
}

std::vector<fs::path> model_folders(const Options& options) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(options.folder)) {
    const std::string name = entry.path().filename().string();
    const bool wanted = options.models.empty() || std::ranges::find(options.models, name) != options.models.end();
    if (wanted && find_file(entry.path(), "graph") && find_file(entry.path(), "decisions"))
      folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

size_t column(Tally& tally, const std::string& configuration) {
  const auto found = std::ranges::find(tally.configurations, configuration);
  const auto place = static_cast<size_t>(found - tally.configurations.begin());
  if (found == tally.configurations.end()) tally.configurations.push_back(configuration);
  return place;
}

void record(const std::string& model, const std::string& configuration, const Comparison& result, Tally& tally) {
  constexpr std::string_view kMarks = "=ox-";
  column(tally, configuration);
  tally.matrix[model][configuration] = kMarks[static_cast<size_t>(result.verdict)];
  if (result.verdict == Verdict::kNotRecorded) return;
  ++tally.compared;
  if (result.verdict != Verdict::kDifferent) {
    ++tally.equal;
  } else {
    tally.failures.push_back(model + ", " + configuration + ": " + result.difference);
  }
}


Comparison compare_safely(const sapwood::graph::Graph& joint, const json& decision, bool deep) {
  try {
    return sapwood::oracle::compare(joint, decision, deep);
  } catch (const std::exception& error) {
    return {Verdict::kDifferent, std::string("ours failed: ") + error.what()};
  }
}

void compare_model(const fs::path& folder, const Options& options, Tally& tally) {
  const std::string model = folder.filename().string();
  try {
    const auto joint = sapwood::graph::parse_any(sapwood::read_file(*find_file(folder, "graph")));
    const json decisions = json::parse(sapwood::unpack(sapwood::read_file(*find_file(folder, "decisions"))));
    for (const json& decision : decisions)
      record(model, sapwood::oracle::configuration_name(decision.at("config")),
             compare_safely(joint, decision, options.deep), tally);
  } catch (const std::exception& error) {
    record(model, "(reading)", {Verdict::kDifferent, error.what()}, tally);
  }
}

void print_matrix(const Tally& tally) {
  std::cout << "= equal, o the best choice (PyTorch's needn't be), x different, - PyTorch failed and ours did not\n\n";
  for (size_t i = 0; i < tally.configurations.size(); ++i)
    std::cout << (i < 9 ? " " : "") << i + 1 << "  " << tally.configurations[i] << "\n";
  std::cout << "\n";
  size_t width = 0;
  for (const auto& [model, row] : tally.matrix) width = std::max(width, model.size());
  for (const auto& [model, row] : tally.matrix) {
    std::cout << model << std::string(width - model.size() + 2, ' ');
    for (const std::string& configuration : tally.configurations) {
      const auto found = row.find(configuration);
      std::cout << (found == row.end() ? ' ' : found->second) << ' ';
    }
    std::cout << "\n";
  }
}

int run(const Options& options) {
  Tally tally;
  for (const fs::path& folder : model_folders(options)) compare_model(folder, options, tally);
  if (!options.quiet) print_matrix(tally);
  if (!tally.failures.empty()) std::cout << "\n";
  for (const std::string& failure : tally.failures) std::cout << failure << "\n";
  if (tally.compared == 0) std::cout << options.folder.string() << " holds no recorded decision\n";
  std::cout << "parity: " << tally.equal << " equal of " << tally.compared << std::endl;
  return tally.compared > 0 && tally.equal == tally.compared ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compares Sapwood's partitioner with recorded decisions of PyTorch's.", "parity");
  Options options;
  app.add_option("folder", options.folder, "Folder with a folder per model")->required()->check(CLI::ExistingDirectory);
  app.add_option("models", options.models, "Names of the models to compare; none: all");
  app.add_flag("--deep", options.deep, "Also compare every minimum cut on the way, and the knapsack");
  app.add_flag("--quiet", options.quiet, "No matrix");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
