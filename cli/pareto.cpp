#include "partition/pareto.h"

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/partition_options.h"

namespace sapwood::cli {

namespace {

using partition::ParetoPoint;

struct Options {
  std::string input = "-";
  std::string picture;
  bool json = false;
  partition::PartitionOptions partition;
};

std::string line(const ParetoPoint& point) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%8.4f %16lld %16lld %18.6g %11lld\n", point.budget,
                static_cast<long long>(point.saved_bytes), static_cast<long long>(point.peak_bytes),
                point.recompute_runtime, static_cast<long long>(point.recomputed));
  return text.data();
}

std::string as_text(const std::vector<ParetoPoint>& points) {
  std::string out = "  budget      saved bytes       peak bytes     recompute cost  recomputed\n";
  for (const ParetoPoint& point : points) out += line(point);
  return out;
}

std::string as_json(const std::vector<ParetoPoint>& points) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ParetoPoint& point : points) {
    list.push_back({{"budget", point.budget},
                    {"saved_bytes", point.saved_bytes},
                    {"peak_bytes", point.peak_bytes},
                    {"recompute_runtime", point.recompute_runtime},
                    {"recomputed", point.recomputed}});
  }
  return list.dump(2) + "\n";
}

void sweep(const Options& options) {
  const graph::Graph joint = load_sound_graph(options.input);
  const partition::PartitionOptions ready = ready_options(options.partition);
  const std::vector<ParetoPoint> points = partition::pareto_sweep(joint, ready);
  if (!options.picture.empty())
    write_output(options.picture,
                 partition::pareto_svg(points, joint.name, ready.activation_memory_budget_runtime_estimator));
  if (options.picture != "-") write_output("-", options.json ? as_json(points) : as_text(points));
}

}  // namespace

void add_pareto(CLI::App& app, int& /*status*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("pareto", "What every memory budget saves and repeats, as a table and a picture");
  command->add_option("graph", options->input, "File with the joint graph, or - for standard input")
      ->capture_default_str();
  command->add_option("--svg", options->picture, "File for the picture");
  command->add_flag("--json", options->json, "JSON instead of text");
  add_partition_options(*command, options->partition);
  command->callback([options] { sweep(*options); });
}

}  // namespace sapwood::cli
