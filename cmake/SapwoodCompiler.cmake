# Language level, warnings, optimisation, sanitizers, ccache, linker.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_UNITY_BUILD OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")  # asserts on

find_program(SAPWOOD_CCACHE ccache)
if(SAPWOOD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for when a compilation uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${SAPWOOD_CCACHE})
endif()
find_program(SAPWOOD_MOLD mold)
if(SAPWOOD_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(SAPWOOD_SANITIZE)
  add_compile_options(-fsanitize=${SAPWOOD_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SAPWOOD_SANITIZE})
  if(SAPWOOD_SANITIZE MATCHES "undefined")
    # vptr checks need the type information of libtorch's hidden classes.
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
endif()

# Options of every target of this project.
function(sapwood_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
endfunction()
