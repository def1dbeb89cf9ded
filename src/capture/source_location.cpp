#include "capture/source_location.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

namespace sapwood::capture {
namespace {

std::string demangle(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : symbol;
  std::free(text);
  return result;
}

/// "ns::Model::forward(at::Tensor const&)" -> "ns::Model::forward".
std::string short_name(const std::string& function) {
  int depth = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    if (function[i] == '<') ++depth;
    if (function[i] == '>') --depth;
    if (function[i] == '(' && depth == 0 && i > 0 && function.compare(i, 21, "(anonymous namespace)") != 0)
      return function.substr(0, i);
  }
  return function;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes)
    if (text.substr(0, prefix.size()) == prefix) return true;
  return false;
}

/// The function without a template's return type: "at::Tensor my::f<int>(int)" -> "my::f<int>(int)".
std::string_view without_return_type(std::string_view function) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '(' && depth == 0 && !function.substr(i).starts_with("(anonymous namespace)") && i != start) break;
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ' ' && depth == 0 && !function.substr(0, i).ends_with("operator")) start = i + 1;
  }
  return function.substr(start);
}

/// Whether a demangled function belongs to a library between the user and the dispatcher.
bool is_library_function(std::string_view function) {
  return starts_with_any(without_return_type(function),
                         {"at::", "c10::", "torch::", "std::", "__gnu", "sapwood::detail::", "sapwood::TrainStep::"});
}

}  // namespace

struct SourceLocator::Impl {
  Dwfl_Callbacks callbacks{};
  Dwfl* dwfl = nullptr;
  std::unordered_map<uintptr_t, std::string> cache;  // address -> text; "" = not the user's

  Impl() {
    callbacks.find_elf = dwfl_linux_proc_find_elf;
    callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    dwfl = dwfl_begin(&callbacks);
    if (dwfl == nullptr) return;
    dwfl_report_begin(dwfl);
    if (dwfl_linux_proc_report(dwfl, getpid()) != 0 || dwfl_report_end(dwfl, nullptr, nullptr) != 0) {
      dwfl_end(dwfl);
      dwfl = nullptr;
    }
  }
  ~Impl() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  std::string resolve(uintptr_t address) const {
    Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
    if (module == nullptr) return {};
    const char* file_name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    const std::string_view path = file_name == nullptr ? "" : file_name;
    const std::string_view file = path.substr(path.rfind('/') + 1);
    if (starts_with_any(file, {"libtorch", "libc10", "libc.", "libstdc++", "libgomp", "libsapwood", "[vdso"}))
      return {};
    const char* symbol = dwfl_module_addrname(module, address);
    if (symbol == nullptr) return {};
    const std::string function = demangle(symbol);
    if (is_library_function(function) || function == "_start") return {};
    return line_of(module, address) + short_name(function);
  }

  static std::string line_of(Dwfl_Module* module, uintptr_t address) {
    Dwfl_Line* line = dwfl_module_getsrc(module, address);
    int number = 0;
    const char* source = line == nullptr ? nullptr : dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
    if (source == nullptr) return {};
    const std::string_view name = source;
    return fmt::format("{}:{}, in ", name.substr(name.rfind('/') + 1), number);
  }
};

SourceLocator::SourceLocator() : impl_(std::make_unique<Impl>()) {}
SourceLocator::~SourceLocator() = default;

std::string SourceLocator::current() {
  if (impl_->dwfl == nullptr) return {};
  std::array<void*, 96> frames;
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 1; i < count; ++i) {
    const auto address =
        reinterpret_cast<uintptr_t>(frames[static_cast<size_t>(i)]) - 1;  // inside the call instruction
    auto [entry, is_new] = impl_->cache.try_emplace(address);
    if (is_new) entry->second = impl_->resolve(address);
    if (!entry->second.empty()) return entry->second;
  }
  return {};
}

}  // namespace sapwood::capture
