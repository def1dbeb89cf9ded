#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace sapwood::graph {

/// Prints the graph in the readable form that `parse_text` reads. Complete: every field of the graph is in it.
///
///     graph mlp {
///       %primals_1 : float32[32, 64]{64, 1} = placeholder  # storage=0 ...
///       %mm : float32[32, 10] = aten.mm.default(%primals_1, %t)
///       return (%mm, None)
///     }
std::string print_text(const Graph& graph);

/// Reads what `print_text` writes; a person may have edited it. Errors: user error "line:column: what is wrong".
Graph parse_text(std::string_view text);

/// `sapwood.graph/1`, the JSON form.
std::string print_json(const Graph& graph);
/// Errors: user error naming the JSON path, the node and what is expected. Input may be hostile: nothing is trusted, size and depth are bounded.
Graph parse_json(std::string_view text);

/// Either form, told apart by the first character; zstd-compressed input is accepted.
Graph parse_any(std::string_view bytes);

}  // namespace sapwood::graph
