#pragma once

// The one place that holds the version; the build system reads it from here.
#define SAPWOOD_VERSION_MAJOR 0
#define SAPWOOD_VERSION_MINOR 1
#define SAPWOOD_VERSION_PATCH 0
#define SAPWOOD_VERSION "0.1.0"

namespace sapwood {

inline constexpr const char* kVersion = SAPWOOD_VERSION;

}  // namespace sapwood
