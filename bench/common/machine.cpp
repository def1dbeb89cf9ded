#include "common/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <torch/version.h>

#include "common/rows.h"
#include "sapwood/version.h"

namespace sapwood::bench {

namespace {

/// The value after the first "key<separator>" in a file of such lines, or `otherwise`.
std::string lookup(const std::string& file, const std::string& key, char separator, const std::string& otherwise) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t at = line.find(separator);
    if (!line.starts_with(key) || at == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t\"", at + 1);
    const size_t end = line.find_last_not_of(" \t\"");
    if (begin != std::string::npos) return line.substr(begin, end - begin + 1);
  }
  return otherwise;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine_facts() {
  utsname system{};
  uname(&system);
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return {
      {"Processor", lookup("/proc/cpuinfo", "model name", ':', system.machine)},
      {"Logical processors", std::to_string(std::thread::hardware_concurrency())},
      {"Memory", format_bytes(memory)},
      {"System", lookup("/etc/os-release", "PRETTY_NAME", '=', system.sysname) + ", Linux " + system.release},
      {"Compiler", std::string("GCC-compatible, ") + __VERSION__},
      {"LibTorch", TORCH_VERSION},
      {"Sapwood", SAPWOOD_VERSION},
  };
}

}  // namespace sapwood::bench
