# Test binaries: one for the core, one for what uses libtorch, one end to end. ctest runs each binary once per suite.

include(GoogleTest)

# Compiles the tests in the folders given into one binary. Nothing is made of empty folders.
function(sapwood_add_tests target library)
  sapwood_glob(files ${ARGN})
  if(NOT files)
    return()
  endif()
  add_executable(${target} ${files})
  sapwood_compile_options(${target})
  target_compile_options(${target} PRIVATE -O1)
  target_compile_definitions(${target} PRIVATE SAPWOOD_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(${target} PRIVATE ${library} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES TIMEOUT 900)
endfunction()

list(TRANSFORM SAPWOOD_CORE_FOLDERS PREPEND test/unit/ OUTPUT_VARIABLE core_tests)
sapwood_add_tests(sapwood_core_test sapwood_core ${core_tests} test/unit test/fuzz test/golden)

if(SAPWOOD_WITH_TORCH)
  sapwood_add_tests(sapwood_torch_test sapwood_internal test/unit/interp test/unit/capture test/unit/exec
                    test/unit/runtime test/unit/runtime/exec test/unit/driver)
  sapwood_add_tests(sapwood_e2e_test sapwood_internal test/e2e test/error)
  foreach(target IN ITEMS sapwood_torch_test sapwood_e2e_test)
    if(TARGET ${target})
      target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/torch_test_pch.h)
    endif()
  endforeach()
endif()
