#include "passes/pipeline.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/error.h"
#include "graph/verify.h"
#include "passes/common_subexpression.h"
#include "passes/dead_code.h"

namespace sapwood::passes {
namespace {

constexpr std::string_view kStage = "passes";

constexpr std::array kStandardPasses{
    Pass{"dead_code", remove_dead_nodes},
    Pass{"common_subexpression", merge_common_subexpressions},
};

void check_options(std::span<const Pass> passes, const PipelineOptions& options) {
  if (options.rounds < 0)
    throw_user(kStage, "rounds is " + std::to_string(options.rounds) + "; it must not be negative");
  for (const std::string& name : options.disabled) {
    if (std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; })) continue;
    std::string known;
    for (const Pass& pass : passes) known += (known.empty() ? "" : ", ") + std::string(pass.name);
    throw_user(kStage, "cannot disable the pass '" + name + "': there is none of that name; the passes are " + known);
  }
}

PassRecord run_one(graph::Graph& graph, const Pass& pass, int round) {
  PassRecord record{std::string(pass.name), round, false, graph.size(), 0, 0};
  const auto start = std::chrono::steady_clock::now();
  record.changed = pass.run(graph);
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  record.nodes_after = graph.size();
  return record;
}

}  // namespace

std::span<const Pass> standard_passes() { return kStandardPasses; }

std::vector<PassRecord> run_passes(graph::Graph& graph, std::span<const Pass> passes, const PipelineOptions& options) {
  check_options(passes, options);
  const auto disabled = [&](const Pass& pass) {
    return std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end();
  };
  if (options.verify) graph::verify_or_throw(graph, "before the first pass");
  std::vector<PassRecord> records;
  for (int round = 0; round < options.rounds; ++round) {
    bool changed = false;
    for (const Pass& pass : passes) {
      if (disabled(pass)) continue;
      records.push_back(run_one(graph, pass, round));
      changed = changed || records.back().changed;
      if (options.verify) graph::verify_or_throw(graph, "after pass " + std::string(pass.name));
      if (options.dump) options.dump(pass.name, round, graph);
    }
    if (!changed) break;
  }
  return records;
}

}  // namespace sapwood::passes
