// How long a partition takes (decide and split into two graphs): PyTorch 2.13's partitioner and ours in turn, each with
// the graph in its memory, on the joint graphs of the corpus; how our time grows with the graph, and what memory we
// take. Writes rows {bench, case, system, threads, metric, value, unit, better}.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "common/rows.h"
#include "graph/text.h"
#include "partition/measure.h"
#include "partition/repeated.h"
#include "partition/torch_worker.h"

namespace {

namespace fs = std::filesystem;
using namespace sapwood::bench;
using sapwood::graph::Graph;

constexpr size_t kLarge = 1000;  ///< nodes of a graph whose times are worth a table
constexpr const char* kRecorded = "pytorch (recorded)";

struct Options {
  fs::path file = "build/bench/partition.json";
  fs::path corpus = fs::path(SAPWOOD_TEST_DATA) / "corpus";
  fs::path python = fs::path(SAPWOOD_SOURCE) / ".venv/bin/python";
  std::vector<std::string> models;
  std::string grown = "unet2d";
  std::vector<int> sizes = {10, 100};
  int repetitions = 3;
  bool all = false;
  bool without_torch = false;
  bool only_growth = false;
};

class Report {
 public:
  void add(const std::string& name, const std::string& system, const std::string& metric, double value,
           const std::string& unit) {
    rows_.push_back(
        {"partition", name, system, 1, metric, value, unit, metric.starts_with("ratio") ? "higher" : "lower"});
  }
  void add(const std::string& name, const std::string& system, const Seconds& seconds) {
    add(name, system, "seconds", seconds.wall, "s");
    add(name, system, "cpu_seconds", seconds.cpu, "s");
  }
  void write(const fs::path& file) const { write_rows(file, rows_); }

 private:
  std::vector<Row> rows_;
};

/// The middle of several calls, for both clocks apart.
Seconds median_of(const std::vector<Seconds>& calls) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (const Seconds& call : calls) {
    wall.push_back(call.wall);
    cpu.push_back(call.cpu);
  }
  return {median(wall), median(cpu)};
}

std::string milliseconds(double seconds) { return format_number(seconds * 1e3); }
std::string times(double ratio) { return format_number(ratio) + "x"; }

/// Both systems on graphs of the corpus.
class Comparison {
 public:
  Comparison(const Options& options, Report& report) : options_(options), report_(report) {
    if (!options.without_torch) start();
    if (!worker_)
      recorded_ = nlohmann::json::parse(sapwood::read_file(fs::path(SAPWOOD_TEST_DATA) / "partition_seconds.json"));
  }

  void add(const std::string& model, const fs::path& path) {
    const Graph joint = sapwood::graph::parse_any(sapwood::read_file(path));
    if (!options_.all && options_.models.empty() && joint.size() <= kLarge) return;
    if (worker_ && !worker_->load(path)) return report_failure(model);
    for (const Configuration& configuration : configurations()) measure(model, joint, configuration);
  }

  void print() const { table_.print(std::cout); }

 private:
  void start() {
    worker_ =
        std::make_unique<TorchWorker>(options_.python, fs::path(SAPWOOD_SOURCE) / "tools/oracle/bench_partition.py");
    if (worker_->runs()) return;
    std::cout << "PyTorch isn't measured here; its times are recorded ones of another machine. " << worker_->why_not()
              << "\n";
    worker_.reset();
  }

  void report_failure(const std::string& model) {
    std::cout << model << ": " << worker_->why_not() << "\n";
    start();
  }

  void measure(const std::string& model, const Graph& joint, const Configuration& configuration) {
    std::vector<Seconds> ours;
    std::vector<Seconds> theirs;
    for (int i = 0; i < options_.repetitions; ++i) {
      if (worker_) theirs.push_back(worker_->time_partition(configuration.name));
      ours.push_back(time_partition(joint, configuration));
    }
    const std::string name = model + "/" + configuration.name;
    const Seconds own = median_of(ours);
    report_.add(name, "sapwood", own);
    std::vector<std::string> cells = {model, std::to_string(joint.size()), configuration.name, milliseconds(own.cpu)};
    if (worker_ && !worker_->runs()) {
      report_failure(name);
    } else if (worker_) {
      const Seconds peer = median_of(theirs);
      report_.add(name, "pytorch", peer);
      compare(name, own.cpu, peer.cpu, cells);
    } else if (recorded_.contains(model) && recorded_.at(model).contains(configuration.name)) {
      const double peer = recorded_.at(model).at(configuration.name);
      report_.add(name, kRecorded, "seconds", peer, "s");
      compare(name, own.wall, peer, cells);
    }
    table_.add(cells);
  }

  void compare(const std::string& name, double own, double peer, std::vector<std::string>& cells) {
    report_.add(name, "sapwood", "ratio_vs_pytorch", peer / own, "1");
    cells.push_back(milliseconds(peer));
    cells.push_back(times(peer / own));
  }

  const Options& options_;
  Report& report_;
  std::unique_ptr<TorchWorker> worker_;
  nlohmann::json recorded_;
  Table table_{{"graph", "nodes", "partitioner", "sapwood ms", "pytorch ms", "ratio"}};
};

/// One graph, and graphs made of copies of it.
void measure_growth(const Options& options, const Graph& joint, Report& report) {
  Table table({"graph", "nodes", "partitioner", "ms", "growth", "B/node to decide", "B/node with both graphs",
               "B/node of the graph"});
  std::vector<double> single;
  std::vector<int> sizes = {1};
  sizes.insert(sizes.end(), options.sizes.begin(), options.sizes.end());
  for (const int copies : sizes) {
    const Graph graph = repeated(joint, copies);
    const auto nodes = static_cast<double>(graph.size());
    size_t index = 0;
    for (const Configuration& configuration : configurations()) {
      std::vector<Seconds> calls;
      for (int i = 0; i < options.repetitions; ++i) calls.push_back(time_partition(graph, configuration));
      const Seconds seconds = median_of(calls);
      if (copies == 1) single.push_back(seconds.cpu);
      const double growth = seconds.cpu / single[index++];
      const PeakBytes bytes = measure_peaks(graph, configuration);
      const std::string name = options.grown + "/" + configuration.name + "/" + std::to_string(copies) + "x";
      report.add(name, "sapwood", seconds);
      report.add(name, "sapwood", "growth", growth, "1");
      report.add(name, "sapwood", "peak_bytes_per_node", static_cast<double>(bytes.decision) / nodes, "bytes");
      report.add(name, "sapwood", "peak_bytes_per_node_with_graphs", static_cast<double>(bytes.all) / nodes, "bytes");
      table.add({options.grown + " " + std::to_string(copies) + "x", std::to_string(graph.size()), configuration.name,
                 milliseconds(seconds.cpu), times(growth), format_number(static_cast<double>(bytes.decision) / nodes),
                 format_number(static_cast<double>(bytes.all) / nodes),
                 format_number(static_cast<double>(bytes.graph) / nodes)});
    }
  }
  table.print(std::cout);
}

fs::path graph_of(const fs::path& folder) {
  for (const char* name : {"graph.json.zst", "graph.json"})
    if (fs::exists(folder / name)) return folder / name;
  return {};
}

int run(const Options& options) {
  Report report;
  if (!options.only_growth) {
    std::set<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(options.corpus)) folders.insert(entry.path());
    Comparison comparison(options, report);
    for (const fs::path& folder : folders) {
      const std::string model = folder.filename().string();
      const bool wanted = options.models.empty() || std::ranges::find(options.models, model) != options.models.end();
      if (wanted && !graph_of(folder).empty()) comparison.add(model, graph_of(folder));
    }
    std::cout << "CPU time of deciding and splitting, the median of " << options.repetitions << " calls in turn:\n";
    comparison.print();
  }
  if (!options.grown.empty() && !graph_of(options.corpus / options.grown).empty()) {
    std::cout << "Copies of one graph; memory is the most on the heap besides the graph, counted by operator new:\n";
    measure_growth(options, sapwood::graph::parse_any(sapwood::read_file(graph_of(options.corpus / options.grown))),
                   report);
  }
  report.write(options.file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the partitioner against PyTorch's.", "partition");
  Options options;
  app.add_option("file", options.file, "Where the rows go");
  app.add_option("--corpus", options.corpus, "A folder with a folder per graph")->check(CLI::ExistingDirectory);
  app.add_option("--python", options.python, "A Python that has torch and networkx");
  app.add_option("--models", options.models, "Only these graphs");
  app.add_option("--grow", options.grown, "The graph that is repeated; empty: none");
  app.add_option("--sizes", options.sizes, "How often it is repeated");
  app.add_option("--repetitions", options.repetitions, "Calls of each system")->check(CLI::Range(1, 1000));
  app.add_flag("--all", options.all, "Graphs of at most 1,000 nodes as well");
  app.add_flag("--without-torch", options.without_torch, "Compare with recorded times");
  app.add_flag("--only-growth", options.only_growth, "Copies of one graph only");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "partition: " << error.what() << "\n";
    return 1;
  }
}
