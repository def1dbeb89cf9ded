#include "partition/max_flow.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace sapwood::partition {
namespace {

constexpr std::string_view kStage = "partition";
constexpr int32_t kNone = -1;

size_t at(int32_t index) { return static_cast<size_t>(index); }

}  // namespace

int32_t MaxFlow::add_arc(int32_t from, int32_t to, int64_t residual, bool infinite) {
  const auto added = static_cast<int32_t>(arcs_.size());
  arcs_.push_back({residual, to, first_[at(from)], infinite});
  first_[at(from)] = added;
  return added;
}

int32_t MaxFlow::add_edge(int32_t from, int32_t to, int64_t capacity) {
  const int32_t arc = add_arc(from, to, capacity, false);
  add_arc(to, from, 0, false);
  return arc / 2;
}

int32_t MaxFlow::add_infinite_edge(int32_t from, int32_t to) {
  const int32_t arc = add_arc(from, to, 0, true);
  add_arc(to, from, 0, false);
  return arc / 2;
}

std::optional<std::vector<int32_t>> MaxFlow::infinite_path(int32_t source, int32_t sink) const {
  std::vector<int32_t> reached_by(first_.size(), kNone);
  std::vector<uint8_t> seen(first_.size(), 0);
  std::vector<int32_t> queue{source};
  seen[at(source)] = 1;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int32_t out = first_[at(queue[i])]; out != kNone; out = arc(out).next) {
      const int32_t target = arc(out).head;
      if (!arc(out).infinite || seen[at(target)]) continue;
      seen[at(target)] = 1;
      reached_by[at(target)] = out;
      queue.push_back(target);
    }
  }
  if (!seen[at(sink)]) return std::nullopt;
  std::vector<int32_t> path;
  for (int32_t vertex = sink; vertex != source; vertex = arc(reached_by[at(vertex)] ^ 1).head)
    path.push_back(reached_by[at(vertex)] / 2);
  std::ranges::reverse(path);
  return path;
}

void MaxFlow::check_sum() const {
  int64_t sum = 0;
  for (const Arc& each : arcs_)
    if (__builtin_add_overflow(sum, each.residual, &sum))
      throw_internal(kStage, "the capacities of the flow network overflow 63 bits");
}

bool MaxFlow::build_levels(int32_t source, int32_t sink) {
  level_.assign(first_.size(), kNone);
  level_[at(source)] = 0;
  std::vector<int32_t> queue{source};
  for (size_t i = 0; i < queue.size(); ++i) {
    const int32_t below = level_[at(queue[i])] + 1;
    if (level_[at(sink)] == below) break;  // from here on nothing leads to the sink by a shortest path
    for (int32_t out = first_[at(queue[i])]; out != kNone; out = arc(out).next) {
      const int32_t target = arc(out).head;
      if (level_[at(target)] != kNone || !arc(out).open()) continue;
      level_[at(target)] = below;
      queue.push_back(target);
    }
  }
  return level_[at(sink)] != kNone;
}

int64_t MaxFlow::push_along(const std::vector<int32_t>& path) {
  int64_t amount = std::numeric_limits<int64_t>::max();
  for (const int32_t step : path)
    if (!arc(step).infinite) amount = std::min(amount, arc(step).residual);
  for (const int32_t step : path) {
    Arc& there = arcs_[at(step)];
    Arc& back = arcs_[at(step ^ 1)];
    if (!there.infinite) there.residual -= amount;
    if (!back.infinite) back.residual += amount;
  }
  return amount;
}

int64_t MaxFlow::augment(int32_t source, int32_t sink) {
  std::vector<int32_t> path;
  int32_t vertex = source;
  while (vertex != sink) {
    int32_t& out = current_[at(vertex)];
    const int32_t below = level_[at(vertex)] + 1;
    while (out != kNone && !(arc(out).open() && level_[at(arc(out).head)] == below)) out = arc(out).next;
    if (out != kNone) {
      path.push_back(out);
      vertex = arc(out).head;
      continue;
    }
    if (path.empty()) return 0;
    // A dead end: step back, and never come here again in this phase.
    level_[at(vertex)] = kNone;
    vertex = arc(path.back() ^ 1).head;
    path.pop_back();
  }
  return push_along(path);
}

int64_t MaxFlow::solve(int32_t source, int32_t sink) {
  check_sum();
  int64_t flow = 0;
  while (build_levels(source, sink)) {
    current_ = first_;
    while (const int64_t pushed = augment(source, sink)) flow += pushed;
  }
  return flow;
}

std::vector<uint8_t> MaxFlow::sink_side(int32_t sink) const {
  std::vector<uint8_t> reaches(first_.size(), 0);
  std::vector<int32_t> queue{sink};
  reaches[at(sink)] = 1;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (int32_t out = first_[at(queue[i])]; out != kNone; out = arc(out).next) {
      const int32_t origin = arc(out).head;
      if (reaches[at(origin)] || !arc(out ^ 1).open()) continue;
      reaches[at(origin)] = 1;
      queue.push_back(origin);
    }
  }
  return reaches;
}

}  // namespace sapwood::partition
