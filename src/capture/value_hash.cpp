#include "capture/value_hash.h"

#include "base/hash.h"

namespace sapwood::capture {

uint64_t value_hash(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || !tensor.device().is_cpu()) return 0;
  const at::Tensor dense = tensor.contiguous();
  const uint64_t hash = hash_bytes({static_cast<const char*>(dense.const_data_ptr()), dense.nbytes()});
  return hash == 0 ? 1 : hash;
}

}  // namespace sapwood::capture
