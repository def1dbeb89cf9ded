#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace sapwood::graph {

struct TextOptions {
  bool metadata = true;      ///< the "# ..." part of each node
  bool declarations = true;  ///< producer, operators and attributes
};

/// Prints the graph in the readable form that `parse_text` reads. With the default options every field of the graph is
/// in it; what follows from the rest is left out (contiguous strides, the cpu, sizes of storages, hints).
///
///     graph mlp {
///       %primals_1 : float32[32, 64] = placeholder  # partitioner_tag=is_forward
///       %t : float32[64, 10]{1, 64}<alias=%primals_2> = aten.t.default(%primals_2)
///       %mm : float32[32, 10] = aten.mm.default(%primals_1, %t)  # seq_nr=3 stack_trace="model.py:7, in forward, ..."
///       return (%mm, None)
///     }
std::string print_text(const Graph& graph, const TextOptions& options = {});

/// Reads what `print_text` writes; a person may have edited it: blanks and line ends don't matter, metadata may be
/// missing, `//` starts a comment. Errors: user error "line:column: what is wrong", followed by the line with a mark
/// under the place.
Graph parse_text(std::string_view text);

/// `sapwood.graph/1`, the JSON form.
std::string print_json(const Graph& graph);
/// Errors: user error naming the JSON path, the node and what is expected. Input may be hostile: nothing is trusted,
/// size and depth are bounded.
Graph parse_json(std::string_view text);

/// Either form, told apart by the first character; zstd-compressed input is accepted. Errors: as the two parsers; a
/// damaged frame, or one that holds more than 1 GiB, is a user error.
Graph parse_any(std::string_view bytes);

}  // namespace sapwood::graph
