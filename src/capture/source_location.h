#pragma once

#include <memory>
#include <string>

namespace sapwood::capture {

/// Finds the user's line that is being executed: the innermost stack frame that is neither libtorch's, the C++
/// library's nor Sapwood's. Lines need debug information (-g1 is enough); without it the function name is given,
/// without that an empty text. Results are cached per address. One thread.
class SourceLocator {
 public:
  SourceLocator();
  ~SourceLocator();
  SourceLocator(const SourceLocator&) = delete;
  SourceLocator& operator=(const SourceLocator&) = delete;

  /// "model.cpp:41, in forward", or "".
  std::string current();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sapwood::capture
