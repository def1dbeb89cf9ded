#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sapwood::bench {

/// What results depend on, as name and value: processor, memory, system, compiler, LibTorch, Sapwood.
std::vector<std::pair<std::string, std::string>> machine_facts();

}  // namespace sapwood::bench
