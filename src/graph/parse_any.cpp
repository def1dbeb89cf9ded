#include "base/error.h"
#include "base/unpack.h"
#include "graph/text.h"

namespace sapwood::graph {
namespace {

constexpr std::string_view kStage = "parse";

}  // namespace

Graph parse_any(std::string_view bytes) {
  if (is_packed(bytes)) return parse_any(std::string_view(unpack(bytes)));
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw_user(kStage,
               "the input is empty; expected a graph as JSON (sapwood.graph/1) or as text (graph <name> {...})");
  return bytes[first] == '{' ? parse_json(bytes) : parse_text(bytes);
}

}  // namespace sapwood::graph
