#pragma once

#include <string>

namespace sapwood::cli {

/// Has graphviz's `dot` draw its source in a form that it knows ("svg", "png"). Errors: unsupported error if the
/// program isn't installed; runtime error with what it says if it fails.
std::string render(const std::string& dot, const std::string& form);

}  // namespace sapwood::cli
