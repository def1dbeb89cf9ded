#pragma once

#include <string_view>

#include "sapwood/error.h"

namespace sapwood {

[[noreturn]] void throw_user(std::string_view stage, std::string_view message);
[[noreturn]] void throw_unsupported(std::string_view stage, std::string_view message);
[[noreturn]] void throw_internal(std::string_view stage, std::string_view message);

}  // namespace sapwood
