#include "demo/progress.h"

#include <array>
#include <cstdio>

namespace sapwood::bench {

void Progress::note(const std::string& text) {
  finish();
  out_ << "demo: " << text << std::endl;
}

void Progress::show(const ProgressState& state) {
  const int64_t tenths = state.step * 10 / state.steps;
  if (!terminal_ && tenths == shown_tenths_) return;
  shown_tenths_ = tenths;
  std::array<char, 160> line{};
  std::snprintf(line.data(), line.size(),
                "step %5lld of %lld   loss %.4f   eager %6.1f ms/step   sapwood %6.1f ms/step",
                static_cast<long long>(state.step), static_cast<long long>(state.steps), state.loss, state.eager_ms,
                state.sapwood_ms);
  out_ << (terminal_ ? "\r\033[K" : "") << line.data() << (terminal_ ? "" : "\n") << std::flush;
  open_ = terminal_;
}

void Progress::finish() {
  if (open_) out_ << std::endl;
  open_ = false;
}

}  // namespace sapwood::bench
