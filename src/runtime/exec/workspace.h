#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>

namespace sapwood::exec {

/// Memory for values that live during a run only. Executables that never run at the same time may share one: nothing in
/// it outlives a run, and it is as large as the largest of them needs. Not thread-safe.
class Workspace {
 public:
  /// Address of at least `bytes` bytes, aligned as libtorch aligns tensors. Valid until a larger size is asked for.
  char* reserve(size_t bytes);
  size_t bytes() const { return bytes_; }

 private:
  at::DataPtr memory_;
  size_t bytes_ = 0;
};

}  // namespace sapwood::exec
