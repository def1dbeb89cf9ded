#include "runtime/exec/call_graph.h"

#include <algorithm>

namespace sapwood::exec {
namespace {

/// What touched a region so far.
struct RegionState {
  CallId writer = -1;
  std::vector<CallId> readers;  ///< since the last write
};

class OrderFinder {
 public:
  explicit OrderFinder(const Program& program) : program_(program), states_(program.regions.size()) {
    graph_.before.resize(program.calls.size());
    graph_.after.resize(program.calls.size());
  }

  CallGraph run() {
    for (size_t c = 0; c < program_.calls.size(); ++c) visit(static_cast<CallId>(c), program_.calls[c]);
    return std::move(graph_);
  }

 private:
  RegionState& state(ValueId value) { return states_[static_cast<size_t>(program_.region_of(value))]; }

  void visit(CallId id, const Call& call) {
    for (const ValueId value : call.reads) need(state(value).writer, id);
    const auto write = [&](ValueId value) {
      if (value == kNoValue) return;
      need(state(value).writer, id);
      for (const CallId reader : state(value).readers) need(reader, id);
    };
    for (const ValueId value : call.results) write(value);
    for (const ValueId value : call.mutated) write(value);
    const auto wrote = [&](ValueId value) {
      if (value != kNoValue) state(value) = {id, {}};
    };
    for (const ValueId value : call.reads) state(value).readers.push_back(id);
    for (const ValueId value : call.results) wrote(value);
    for (const ValueId value : call.mutated) wrote(value);
    if (!call.ordered) return;
    need(last_ordered_, id);
    last_ordered_ = id;
  }

  void need(CallId first, CallId second) {
    if (first >= 0 && first != second) graph_.add_edge(first, second);
  }

  const Program& program_;
  std::vector<RegionState> states_;
  CallGraph graph_;
  CallId last_ordered_ = -1;
};

}  // namespace

void CallGraph::add_edge(CallId first, CallId second) {
  std::vector<CallId>& needed = before[static_cast<size_t>(second)];
  const auto place = std::lower_bound(needed.begin(), needed.end(), first);
  if (place != needed.end() && *place == first) return;
  needed.insert(place, first);
  after[static_cast<size_t>(first)].push_back(second);
}

bool CallGraph::reaches(CallId from, CallId to) const {
  std::vector<bool> seen(before.size(), false);
  std::vector<CallId> stack{from};
  while (!stack.empty()) {
    const CallId id = stack.back();
    stack.pop_back();
    if (id == to) return true;
    if (seen[static_cast<size_t>(id)]) continue;
    seen[static_cast<size_t>(id)] = true;
    stack.insert(stack.end(), after[static_cast<size_t>(id)].begin(), after[static_cast<size_t>(id)].end());
  }
  return false;
}

CallGraph find_order(const Program& program) { return OrderFinder(program).run(); }

}  // namespace sapwood::exec
