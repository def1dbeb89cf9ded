#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sapwood {

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

/// Appends one code point. Pre: at most 0x10FFFF and no surrogate.
void append_utf8(uint32_t code, std::string& out);

}  // namespace sapwood
