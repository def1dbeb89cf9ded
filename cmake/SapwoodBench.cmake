# bench/<name>.cpp is one benchmark; bench/<name>/*.cpp together are one; bench/common/*.cpp is what they share
# with each other and with the tests (test/e2e trains the same workloads).

set(SAPWOOD_CORE_BENCHES graph_scaling partition)  # these need no libtorch

sapwood_glob(bench_common bench/common)
if(SAPWOOD_WITH_TORCH AND bench_common AND (SAPWOOD_BUILD_BENCH OR SAPWOOD_BUILD_TESTS))
  add_library(sapwood_bench_common STATIC ${bench_common})
  sapwood_use_full_pch(sapwood_bench_common)
  target_include_directories(sapwood_bench_common PUBLIC ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(sapwood_bench_common PUBLIC sapwood_internal)
endif()

if(NOT SAPWOOD_BUILD_BENCH)
  return()
endif()

add_library(sapwood_bench_rows STATIC ${PROJECT_SOURCE_DIR}/bench/common/rows.cpp)
sapwood_compile_options(sapwood_bench_rows)
target_link_libraries(sapwood_bench_rows PUBLIC nlohmann_json::nlohmann_json)
target_include_directories(sapwood_bench_rows PUBLIC ${PROJECT_SOURCE_DIR}/bench)

function(sapwood_add_bench name)
  if(name IN_LIST SAPWOOD_CORE_BENCHES)
    add_executable(bench_${name} ${ARGN})
    sapwood_compile_options(bench_${name})
    target_link_libraries(bench_${name} PRIVATE sapwood_core sapwood_bench_rows CLI11::CLI11)
  elseif(SAPWOOD_WITH_TORCH)
    add_executable(bench_${name} ${ARGN})
    sapwood_use_full_pch(bench_${name})
    target_link_libraries(bench_${name} PRIVATE sapwood_internal benchmark::benchmark
                                                $<TARGET_NAME_IF_EXISTS:sapwood_bench_common>)
  else()
    return()
  endif()
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_compile_definitions(bench_${name} PRIVATE SAPWOOD_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data"
                                                   SAPWOOD_SOURCE="${PROJECT_SOURCE_DIR}")
endfunction()

sapwood_glob(bench_files bench)
foreach(file IN LISTS bench_files)
  get_filename_component(name ${file} NAME_WE)
  sapwood_add_bench(${name} ${file})
endforeach()
file(GLOB bench_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/bench/*)
foreach(folder IN LISTS bench_folders)
  get_filename_component(name ${folder} NAME)
  sapwood_glob(files bench/${name})
  if(IS_DIRECTORY ${folder} AND files AND NOT name STREQUAL "common")
    sapwood_add_bench(${name} ${files})
  endif()
endforeach()
