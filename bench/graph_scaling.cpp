// How building, checking, hashing and cleaning a graph grow with its size, and how fast its text forms are.
// Writes rows {bench, case, system, threads, metric, value, unit, better} to the path given, or to
// build/bench/graph_scaling.json.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"

namespace {

using sapwood::graph::Argument;
using sapwood::graph::Graph;
using sapwood::graph::NodeId;
using sapwood::graph::TensorMeta;

constexpr int kRepetitions = 3;

TensorMeta tensor(int32_t storage) {
  TensorMeta meta;
  meta.shape = {32, 64};
  meta.stride = std::vector<sapwood::graph::SymExpr>{64, 1};
  meta.offset = 0;
  meta.storage = storage;
  meta.storage_bytes = 32 * 64 * 4;
  return meta;
}

/// A chain of layers; a tenth of the nodes are duplicates of others and a tenth are dead.
Graph build_graph(int64_t nodes) {
  Graph g;
  int32_t storage = 0;
  for (const char* op : {"aten.mul.Tensor", "aten.sin.default", "aten.cos.default", "aten.add.Tensor"}) g.ops[op] = {};
  const NodeId x = g.placeholder("x", tensor(storage++));
  NodeId h = x;
  const auto call = [&](const char* target, sapwood::graph::ArgumentList args) {
    return g.call(target, std::move(args), tensor(storage++));
  };
  while (static_cast<int64_t>(g.size()) < nodes) {
    const NodeId a = call("aten.sin.default", {Argument::node(h)});
    const NodeId b = call("aten.mul.Tensor", {Argument::node(a), Argument::node(h)});
    const NodeId duplicate = call("aten.sin.default", {Argument::node(h)});
    const NodeId c = call("aten.add.Tensor", {Argument::node(b), Argument::node(duplicate)});
    call("aten.cos.default", {Argument::node(c)});
    const NodeId d = call("aten.mul.Tensor", {Argument::node(c), Argument::node(x)});
    const NodeId e = call("aten.sin.default", {Argument::node(d)});
    const NodeId f = call("aten.cos.default", {Argument::node(e)});
    const NodeId s = call("aten.add.Tensor", {Argument::node(f), Argument::node(a)});
    h = call("aten.sin.default", {Argument::node(s)});
  }
  g.output({h});
  return g;
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Rows {
 public:
  void add(const std::string& what, const std::string& size, double value, const std::string& unit) {
    rows_.push_back({{"bench", "graph_scaling"},
                     {"case", what + "/" + size},
                     {"system", "sapwood"},
                     {"threads", 1},
                     {"metric", "time"},
                     {"value", value},
                     {"unit", unit},
                     {"better", "lower"}});
    std::printf("%-14s %8s  %10.6f %s\n", what.c_str(), size.c_str(), value, unit.c_str());
  }
  std::string text() const { return rows_.dump(1); }

 private:
  nlohmann::json rows_ = nlohmann::json::array();
};

/// The shortest of several runs, each on a fresh copy of `graph`.
double measure(const Graph& graph, const std::function<void(Graph&)>& work) {
  double best = 1e30;
  for (int i = 0; i < kRepetitions; ++i) {
    Graph copy = graph;
    best = std::min(best, seconds([&] { work(copy); }));
  }
  return best;
}

std::vector<std::pair<std::string, double>> measure_all(int64_t nodes) {
  double build = 1e30;
  Graph graph;
  for (int i = 0; i < kRepetitions; ++i) build = std::min(build, seconds([&] { graph = build_graph(nodes); }));
  const std::string text = print_text(graph);
  const std::string json = print_json(graph);
  using sapwood::graph::parse_json;
  using sapwood::graph::parse_text;
  return {{"build", build},
          {"verify", measure(graph, [](Graph& g) { sapwood::graph::verify_or_throw(g, "bench"); })},
          {"hash", measure(graph, [](Graph& g) { (void)sapwood::graph::structural_hash(g); })},
          {"dce", measure(graph, [](Graph& g) { sapwood::passes::remove_dead_nodes(g); })},
          {"cse", measure(graph, [](Graph& g) { sapwood::passes::merge_common_subexpressions(g); })},
          {"print_text", measure(graph, [](Graph& g) { (void)print_text(g); })},
          {"parse_text", measure(graph, [&](Graph& g) { g = parse_text(text); })},
          {"print_json", measure(graph, [](Graph& g) { (void)print_json(g); })},
          {"parse_json", measure(graph, [&](Graph& g) { g = parse_json(json); })}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path path = argc > 1 ? argv[1] : "build/bench/graph_scaling.json";
  const auto small = measure_all(10000);
  const auto large = measure_all(100000);
  Rows rows;
  for (const auto& [what, value] : small) rows.add(what, "1e4", value, "s");
  for (const auto& [what, value] : large) rows.add(what, "1e5", value, "s");
  for (size_t i = 0; i < small.size(); ++i)
    rows.add(small[i].first, "growth_10x", large[i].second / small[i].second, "ratio");
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  sapwood::write_file_atomically(path, rows.text());
  return 0;
}
