// How long a partition takes: on every joint graph of the corpus, and on ten copies of it in one graph, against the
// time of PyTorch 2.13's partitioner that is recorded with the corpus (another machine's core, so an order of
// magnitude). Writes rows {bench, case, system, threads, metric, value, unit, better} to the path given, or to
// build/bench/partition.json.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "graph/text.h"
#include "partition/classify.h"
#include "partition/partition.h"
#include "partition/remap.h"

namespace {

namespace fs = std::filesystem;
using sapwood::graph::Graph;
using sapwood::graph::kNoNode;
using sapwood::graph::Node;
using sapwood::graph::NodeId;
using sapwood::graph::NodeKind;
using sapwood::partition::Method;

constexpr int kRepetitions = 3;
constexpr int kCopies = 10;

/// `copies` independent copies of a joint graph in one: all inputs, all forwards, all backwards.
class Repeated {
 public:
  Repeated(const Graph& joint, int copies) : joint_(joint), maps_(static_cast<size_t>(copies)) {
    for (auto& map : maps_) map.assign(joint.id_bound(), kNoNode);
  }

  Graph build() {
    result_.symbols = joint_.symbols;
    result_.ops = joint_.ops;
    result_.subgraphs = joint_.subgraphs;
    result_.attributes = joint_.attributes;
    const auto view = sapwood::partition::view_joint(joint_, false);
    const auto classes = sapwood::partition::classify(view);
    const std::vector<NodeId> order = joint_.order();
    const auto add_all = [&](auto&& wanted) {
      for (size_t copy = 0; copy < maps_.size(); ++copy)
        for (const NodeId id : order)
          if (wanted(id)) add(id, copy);
    };
    const auto is_input = [&](NodeId id) { return joint_[id].kind == NodeKind::kPlaceholder; };
    const auto is_inner = [&](NodeId id) { return !is_input(id) && joint_[id].kind != NodeKind::kOutput; };
    add_all(is_input);
    add_all([&](NodeId id) { return is_inner(id) && !classes.in_closure(id); });
    add_all([&](NodeId id) { return is_inner(id) && classes.in_closure(id); });
    add_outputs();
    return std::move(result_);
  }

 private:
  void add(NodeId id, size_t copy) {
    Node node = joint_[id];
    node.users.clear();
    node.name = result_.unique_name("c" + std::to_string(copy) + "_" + node.name);
    sapwood::partition::remap_nodes(node, [&](NodeId old) { return maps_[copy][static_cast<size_t>(old)]; });
    maps_[copy][static_cast<size_t>(id)] = result_.add(std::move(node));
  }

  void add_outputs() {
    const std::vector<NodeId> values = joint_.output_values();
    const auto split = static_cast<size_t>(joint_.num_forward_outputs);
    std::vector<NodeId> outputs;
    const auto add_range = [&](size_t begin, size_t end) {
      for (const auto& map : maps_)
        for (size_t i = begin; i < end; ++i)
          outputs.push_back(values[i] == kNoNode ? kNoNode : map[static_cast<size_t>(values[i])]);
    };
    add_range(0, split);
    add_range(split, values.size());
    result_.num_forward_outputs = static_cast<int64_t>(split * maps_.size());
    result_.output(outputs);
  }

  const Graph& joint_;
  std::vector<std::vector<NodeId>> maps_;
  Graph result_;
};

/// The shortest of several runs, each on a fresh copy.
double seconds_of(const Graph& graph, Method method) {
  double best = 1e30;
  for (int i = 0; i < kRepetitions; ++i) {
    Graph copy = graph;
    sapwood::partition::PartitionOptions options;
    options.method = method;
    const auto start = std::chrono::steady_clock::now();
    const auto plan = sapwood::partition::partition(copy, options);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

class Rows {
 public:
  void add(const std::string& name, const std::string& system, double value) {
    rows_.push_back({{"bench", "partition"},
                     {"case", name},
                     {"system", system},
                     {"threads", 1},
                     {"metric", "seconds"},
                     {"value", value},
                     {"unit", "s"},
                     {"better", "lower"}});
    std::printf("%-36s %-20s %12.6f s\n", name.c_str(), system.c_str(), value);
  }
  std::string text() const { return rows_.dump(1); }

 private:
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

int main(int argc, char** argv) {
  const fs::path path = argc > 1 ? argv[1] : "build/bench/partition.json";
  // Wall seconds of one core on another machine, taken from the corpus' decisions.json.
  const auto recorded =
      nlohmann::json::parse(sapwood::read_file(fs::path(SAPWOOD_TEST_DATA) / "partition_seconds.json"));
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(fs::path(SAPWOOD_TEST_DATA) / "corpus")) folders.insert(entry.path());
  Rows rows;
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder / "graph.json.zst")) continue;
    const std::string model = folder.filename().string();
    const Graph joint = sapwood::graph::parse_any(sapwood::read_file(folder / "graph.json.zst"));
    for (const auto& [method, name] : {std::pair{Method::kDefault, "default"}, std::pair{Method::kMinCut, "min_cut"}}) {
      rows.add(model + "/" + name, "sapwood", seconds_of(joint, method));
      rows.add(model + "/" + name, "pytorch (recorded)", recorded.at(model).at(name).get<double>());
    }
    rows.add(model + "/min_cut/10x", "sapwood", seconds_of(Repeated(joint, kCopies).build(), Method::kMinCut));
  }
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  sapwood::write_file_atomically(path, rows.text());
  return 0;
}
