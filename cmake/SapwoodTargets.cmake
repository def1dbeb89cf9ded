# The three products: core library, library, command line.

set(SAPWOOD_CORE_FOLDERS base graph ops passes partition)
set(SAPWOOD_TORCH_FOLDERS interp capture runtime/exec driver)

# out: the .cpp files of src/<folder> for each folder named.
function(sapwood_glob out)
  set(files)
  foreach(folder IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND files ${found})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Kernels that exist once per instruction set say so in their name; everything else stays generic.
function(sapwood_instruction_sets)
  foreach(file IN LISTS ARGN)
    if(file MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=off;-O3"
                                                     SKIP_PRECOMPILE_HEADERS ON)
    elseif(file MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${file} PROPERTIES
        COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx2;-mfma;-ffp-contract=off;-O3"
        SKIP_PRECOMPILE_HEADERS ON)
    elseif(file MATCHES "/runtime/exec/")
      # Equal to ATen bit for bit: no contraction that ATen's kernels don't have.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-ffp-contract=off;-O3")
    endif()
  endforeach()
endfunction()

# Headers and libraries that code inside the project may use, on top of the public ones.
function(sapwood_internal_interface target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                              $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
endfunction()

# fmt is used header-only: libtorch ships another version of its headers, which translation units with torch includes see
# first; each version has its own inline namespace.
function(sapwood_add_core)
  list(TRANSFORM SAPWOOD_CORE_FOLDERS PREPEND src/ OUTPUT_VARIABLE folders)
  sapwood_glob(files ${folders})
  sapwood_instruction_sets(${files})
  add_library(sapwood_core STATIC ${files})
  set_target_properties(sapwood_core PROPERTIES POSITION_INDEPENDENT_CODE ON)
  sapwood_compile_options(sapwood_core)
  sapwood_internal_interface(sapwood_core)
  target_include_directories(sapwood_core SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_link_libraries(sapwood_core PUBLIC fmt::fmt-header-only nlohmann_json::nlohmann_json
                                     PRIVATE zstd::libzstd_shared ${XXHASH_LIBRARY} Threads::Threads)
endfunction()

# `sapwood` is shared, so that whoever links it needs libtorch and nothing else. It holds the whole core, once: targets
# inside the project that use internals link `sapwood` and take only the headers of `sapwood_core`.
function(sapwood_add_library)
  list(TRANSFORM SAPWOOD_TORCH_FOLDERS PREPEND src/ OUTPUT_VARIABLE folders)
  sapwood_glob(files ${folders})
  if(NOT files)
    file(WRITE ${PROJECT_BINARY_DIR}/empty.cpp "")
    set(files ${PROJECT_BINARY_DIR}/empty.cpp)
  endif()
  sapwood_instruction_sets(${files})
  add_library(sapwood SHARED ${files})
  add_library(sapwood::sapwood ALIAS sapwood)
  sapwood_compile_options(sapwood)
  set_target_properties(sapwood PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION
                                           ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(sapwood PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:include>
                                     PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(sapwood PUBLIC cxx_std_20)
  target_link_libraries(sapwood PUBLIC torch
                                PRIVATE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,sapwood_core>>)
  target_precompile_headers(sapwood PRIVATE ${PROJECT_SOURCE_DIR}/cmake/torch_pch.h)

  add_library(sapwood_internal INTERFACE)
  target_include_directories(sapwood_internal INTERFACE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(sapwood_internal INTERFACE sapwood fmt::fmt-header-only nlohmann_json::nlohmann_json)
endfunction()

function(sapwood_add_cli)
  sapwood_glob(files cli)
  if(NOT files)
    return()
  endif()
  add_executable(sapwood_cli ${files})
  sapwood_compile_options(sapwood_cli)
  set_target_properties(sapwood_cli PROPERTIES OUTPUT_NAME sapwood RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(sapwood_cli PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(sapwood_cli PRIVATE sapwood_internal CLI11::CLI11)
endfunction()

# Programs as a user writes them (tests, examples, benchmarks) include torch/torch.h, the most expensive header there is. It
# is precompiled once; `sapwood_program` gives it to a target, which must not change optimisation or language flags.
function(sapwood_add_program_pch)
  file(WRITE ${PROJECT_BINARY_DIR}/program_pch.cpp "")
  add_library(sapwood_program_pch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/program_pch.cpp)
  sapwood_compile_options(sapwood_program_pch)
  target_link_libraries(sapwood_program_pch PRIVATE sapwood_internal)
  target_precompile_headers(sapwood_program_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/program_pch.h)
endfunction()

function(sapwood_program target)
  sapwood_compile_options(${target})
  target_precompile_headers(${target} REUSE_FROM sapwood_program_pch)
endfunction()
