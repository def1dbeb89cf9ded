#pragma once

#include <optional>
#include <string_view>

#include "interp/binding.h"

namespace sapwood::interp {

/// Our kernel for an operator that PyTorch implements in Python only: prims.convert_element_type, prims.device_put,
/// prims.fma, prims.iota and prims._low_memory_max_pool_*; for `ao.*` and `streams.*` the schema, and a kernel that
/// asks for a `ReferenceDevice`. None for any other target.
std::optional<Callable> find_native(std::string_view target);

}  // namespace sapwood::interp
