#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graph/node.h"

namespace sapwood::graph {

/// Appends the shortest decimal text that reads back as `value`, always recognisable as a float ("3.0", "1e-05").
/// Infinities and NaN: "inf", "-inf", "nan".
void append_float(double value, std::string& out);

void append_int(int64_t value, std::string& out);

/// As an integer or a float, whichever it was.
void append_number(const NumberMark& number, std::string& out);

/// Appends `text` in double quotes with JSON's escapes; everything but quotes, backslashes and control characters is
/// copied.
void append_quoted(std::string_view text, std::string& out);

}  // namespace sapwood::graph
