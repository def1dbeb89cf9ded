#pragma once

#include <cstdint>
#include <ostream>
#include <string>

namespace sapwood::bench {

struct ProgressState {
  int64_t step = 0, steps = 0;
  double loss = 0;
  double eager_ms = 0, sapwood_ms = 0;  ///< per step, in the last turn
};

/// Tells a person how far the training is: one line that is rewritten on a terminal, a line every tenth of the work
/// elsewhere.
class Progress {
 public:
  Progress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// A line about what begins now.
  void note(const std::string& text);
  void show(const ProgressState& state);
  /// Leaves the rewritten line behind.
  void finish();

 private:
  std::ostream& out_;
  bool terminal_;
  bool open_ = false;
  int64_t shown_tenths_ = 0;
};

}  // namespace sapwood::bench
