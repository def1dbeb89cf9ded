#pragma once

#include <vector>

#include "runtime/exec/program.h"

namespace sapwood::exec {

/// Which calls must run before which: definitions before uses, the order of reads and writes of memory that is written
/// more than once, and the order of random and effectful calls.
struct CallGraph {
  std::vector<std::vector<CallId>> before;  ///< for each call, those that it needs; sorted, without repetitions
  std::vector<std::vector<CallId>> after;   ///< the same edges the other way

  void add_edge(CallId first, CallId second);
  /// Whether a chain of edges leads from `from` to `to`. O(edges).
  bool reaches(CallId from, CallId to) const;
};

/// The order of `program.calls` is taken as a valid one.
CallGraph find_order(const Program& program);

}  // namespace sapwood::exec
