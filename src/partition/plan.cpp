#include "partition/plan.h"

namespace sapwood::partition {

int64_t Plan::saved_bytes() const {
  int64_t sum = 0;
  for (const SavedValue& value : saved)
    if (!value.is_input && !value.shares_memory) sum += value.bytes;
  return sum;
}

}  // namespace sapwood::partition
