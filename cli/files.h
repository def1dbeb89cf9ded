#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace sapwood::cli {

/// The graph in a file, or on standard input for "-": JSON or text, compressed or not. Errors: as read_file and
/// parse_any, with the file named.
graph::Graph load_graph(const std::string& path);

/// The same for a graph that is to be worked with. Errors: besides, a user error naming the rules that it breaks.
graph::Graph load_sound_graph(const std::string& path);

/// Writes to a file, or to standard output for "-".
void write_output(const std::string& path, std::string_view content);

/// Makes the folder if it isn't there. Errors: runtime error naming it and the system's reason.
void make_folder(const std::string& path);

}  // namespace sapwood::cli
