# bench/<name>.cpp is one benchmark; bench/<name>/*.cpp together are one; bench/common/*.cpp is what they share
# with each other and with the tests (test/e2e trains the same workloads).

sapwood_glob(bench_common bench/common)
if(bench_common AND (SAPWOOD_BUILD_BENCH OR SAPWOOD_BUILD_TESTS))
  add_library(sapwood_bench_common STATIC ${bench_common})
  sapwood_use_full_pch(sapwood_bench_common)
  target_include_directories(sapwood_bench_common PUBLIC ${PROJECT_SOURCE_DIR}/bench)
  target_link_libraries(sapwood_bench_common PUBLIC sapwood_internal)
endif()

if(NOT SAPWOOD_BUILD_BENCH)
  return()
endif()

function(sapwood_add_bench name)
  add_executable(bench_${name} ${ARGN})
  sapwood_use_full_pch(bench_${name})
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_compile_definitions(bench_${name} PRIVATE SAPWOOD_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
  target_link_libraries(bench_${name} PRIVATE sapwood_internal benchmark::benchmark
                                              $<TARGET_NAME_IF_EXISTS:sapwood_bench_common>)
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
