# The three products: core library, library, command line.

set(SAPWOOD_CORE_FOLDERS base graph ops passes partition check)
set(SAPWOOD_TENSOR_FOLDERS interp runtime/exec)  # narrow headers: tensors and the dispatcher
set(SAPWOOD_MODULE_FOLDERS capture driver)       # modules and optimizers, so nearly all of libtorch

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
  # Equal to ATen bit for bit: no contraction that ATen's kernels don't have.
  set(exact -ffp-contract=off)
  if(NOT SAPWOOD_SANITIZE)  # with both, g++ 12 crashes on some files
    list(APPEND exact -O3)
  endif()
  foreach(file IN LISTS ARGN)
    if(file MATCHES "_avx2\\.cpp$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-ffp-contract=off;-O3"
                                                     SKIP_PRECOMPILE_HEADERS ON)
    elseif(file MATCHES "_avx512\\.cpp$")
      set_source_files_properties(${file} PROPERTIES
        COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx2;-mfma;-ffp-contract=off;-O3"
        SKIP_PRECOMPILE_HEADERS ON)
    elseif(file MATCHES "/runtime/exec/")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${exact}")
    endif()
  endforeach()
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
  target_include_directories(sapwood_core PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_include_directories(sapwood_core SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_link_libraries(sapwood_core PUBLIC fmt::fmt-header-only nlohmann_json::nlohmann_json
                                     PRIVATE zstd::libzstd_shared ${XXHASH_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# torch/torch.h is the most expensive header there is. Precompiled once, it serves the folders of the library that need modules
# and optimizers, and all programs: tests, examples, benchmarks. What gets it with `sapwood_use_full_pch` must not
# change optimisation, language flags or position independence, or the compiler refuses it.
function(sapwood_add_full_pch)
  file(WRITE ${PROJECT_BINARY_DIR}/full_pch.cpp "")
  add_library(sapwood_full_pch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/full_pch.cpp)
  sapwood_compile_options(sapwood_full_pch)
  target_compile_options(sapwood_full_pch PRIVATE -fPIC)
  target_link_libraries(sapwood_full_pch PRIVATE torch)
  target_precompile_headers(sapwood_full_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/full_pch.h)
endfunction()

function(sapwood_use_full_pch target)
  sapwood_compile_options(${target})
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM sapwood_full_pch)
  # Loading this header costs more than most files here: a few of them at a time make one translation unit.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
endfunction()

# The sources of some folders, compiled but not linked, as `target`.
function(sapwood_add_objects target)
  list(TRANSFORM ARGN PREPEND src/ OUTPUT_VARIABLE folders)
  sapwood_glob(files ${folders})
  sapwood_instruction_sets(${files})
  add_library(${target} OBJECT ${files})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE torch fmt::fmt-header-only nlohmann_json::nlohmann_json)
endfunction()

# `sapwood` is shared, so that whoever links it needs libtorch and nothing else. It holds the whole core, once: targets
# inside the project that use internals link `sapwood_internal`, which is `sapwood` and the headers of the core.
function(sapwood_add_library)
  sapwood_add_objects(sapwood_tensor_objects ${SAPWOOD_TENSOR_FOLDERS})
  sapwood_compile_options(sapwood_tensor_objects)
  set_target_properties(sapwood_tensor_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # at::parallel_for is a header: without OpenMP here its loops would run on one thread.
  target_link_libraries(sapwood_tensor_objects PRIVATE OpenMP::OpenMP_CXX)
  target_precompile_headers(sapwood_tensor_objects PRIVATE ${PROJECT_SOURCE_DIR}/cmake/tensor_pch.h)
  sapwood_add_objects(sapwood_module_objects ${SAPWOOD_MODULE_FOLDERS})
  sapwood_use_full_pch(sapwood_module_objects)

  add_library(sapwood SHARED $<TARGET_OBJECTS:sapwood_tensor_objects> $<TARGET_OBJECTS:sapwood_module_objects>)
  add_library(sapwood::sapwood ALIAS sapwood)
  set_target_properties(sapwood PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                           SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(sapwood PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:include>)
  target_compile_features(sapwood PUBLIC cxx_std_20)
  target_link_libraries(sapwood PUBLIC torch
                                PRIVATE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,sapwood_core>> ${DW_LIBRARY})
  target_link_options(sapwood PRIVATE ${OpenMP_CXX_FLAGS})

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

# Compares decisions with recorded ones of PyTorch; needs no libtorch.
function(sapwood_add_parity)
  sapwood_glob(files tools/oracle)
  add_executable(sapwood_parity ${files})
  sapwood_compile_options(sapwood_parity)
  set_target_properties(sapwood_parity PROPERTIES OUTPUT_NAME parity RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(sapwood_parity PRIVATE ${PROJECT_SOURCE_DIR}/tools)
  target_link_libraries(sapwood_parity PRIVATE sapwood_core CLI11::CLI11)
endfunction()

# Random joint graphs for the same comparison; they come from the generator of the tests.
function(sapwood_add_random_graphs)
  sapwood_glob(files tools/oracle/random_graphs test/random)
  add_executable(sapwood_random_graphs EXCLUDE_FROM_ALL ${files})
  sapwood_compile_options(sapwood_random_graphs)
  set_target_properties(sapwood_random_graphs PROPERTIES OUTPUT_NAME random_joint_graphs
                                                         RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_include_directories(sapwood_random_graphs PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(sapwood_random_graphs PRIVATE sapwood_core CLI11::CLI11)
endfunction()
