#include "runtime/exec/workspace.h"

#include <c10/core/CPUAllocator.h>

namespace sapwood::exec {

char* Workspace::reserve(size_t bytes) {
  if (bytes > bytes_) {
    bytes_ = 0;
    memory_.clear();  // first, so that both are never there together
    memory_ = c10::GetCPUAllocator()->allocate(bytes);
    bytes_ = bytes;
  }
  return static_cast<char*>(memory_.get());
}

}  // namespace sapwood::exec
