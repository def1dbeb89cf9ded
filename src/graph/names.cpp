#include "graph/names.h"

#include <algorithm>
#include <charconv>

namespace sapwood::graph {
namespace {

// Names with capitals are left out: derived names are lower case. Each stands between two spaces.
constexpr std::string_view kPythonNames =
    " __build_class__ __debug__ __doc__ __import__ __loader__ __name__ __package__ __spec__ abs aiter all and"
    " anext any as ascii assert async await bin bool break breakpoint bytearray bytes callable chr class"
    " classmethod compile complex continue copyright credits def del delattr device dict dir divmod elif else"
    " enumerate eval except exec exit filter finally float for format from frozenset fx_pytree getattr global"
    " globals hasattr hash help hex id if import in inf input int is isinstance issubclass iter lambda len"
    " license list locals map max memoryview min nan next nonlocal not object oct open or ord pass pow print"
    " property pytree quit raise range repr return reversed round set setattr slice sorted staticmethod str"
    " sum super torch try tuple type vars while with yield zip ";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string lower_snake(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty() && out.back() >= 'a' && out.back() <= 'z') out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

}  // namespace

NameParts split_name(std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  if (digits == name.size() || digits < 2 || name[digits - 1] != '_' || name.size() - digits > 18)
    return {name, std::nullopt};
  int64_t suffix = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), suffix);
  return {name.substr(0, digits - 1), suffix};
}

std::string legal_name(std::string_view wanted) {
  if (wanted.empty()) return "_unnamed";
  std::string out(wanted);
  for (char& c : out)
    if (!is_letter(c) && !is_digit(c)) c = '_';
  return is_digit(out.front()) ? "_" + out : out;
}

bool is_legal_name(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_python_name(std::string_view name) {
  const std::string key = " " + std::string(name) + " ";
  return kPythonNames.find(key) != std::string_view::npos;
}

std::string base_name_of_target(std::string_view target) {
  const size_t first_dot = target.find('.');
  if (first_dot == std::string_view::npos) return legal_name(lower_snake(target));
  const std::string_view rest = target.substr(first_dot + 1);
  const size_t last_dot = rest.rfind('.');
  return legal_name(lower_snake(rest.substr(0, last_dot)));
}

}  // namespace sapwood::graph
