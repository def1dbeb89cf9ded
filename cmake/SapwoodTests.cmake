# Test binaries: one for the core, one for what uses libtorch, one for programs as a user writes them. Besides: the checks of
# the source tree, the core under sanitizers, and a project that uses an installed Sapwood.

set(SAPWOOD_TEST_FOLDERS_CORE test/unit test/random test/fuzz test/golden)
foreach(folder IN LISTS SAPWOOD_CORE_FOLDERS)
  list(APPEND SAPWOOD_TEST_FOLDERS_CORE test/unit/${folder})
endforeach()
set(SAPWOOD_TEST_FOLDERS_TORCH test/random test/unit/interp test/unit/capture test/unit/exec test/unit/runtime
                               test/unit/runtime/exec test/unit/driver)
set(SAPWOOD_TEST_FOLDERS_E2E test/e2e test/error)
set(SAPWOOD_CORE_ERROR_TESTS "/test/error/.*_file_test\\.cpp$")  # malformed files: these need the core only

# Compiles the tests in the folders given into one binary. Nothing is made of empty folders.
function(sapwood_add_tests target library)
  sapwood_glob(files ${ARGN})
  if(library STREQUAL "sapwood_core")
    sapwood_glob(error_files test/error)
    list(FILTER error_files INCLUDE REGEX ${SAPWOOD_CORE_ERROR_TESTS})
    list(APPEND files ${error_files})
  else()
    list(FILTER files EXCLUDE REGEX ${SAPWOOD_CORE_ERROR_TESTS})
  endif()
  if(NOT files)
    return()
  endif()
  add_executable(${target} ${files})
  target_compile_definitions(${target} PRIVATE SAPWOOD_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(${target} PRIVATE ${library} GTest::gtest GTest::gmock GTest::gtest_main)
  if(library STREQUAL "sapwood_core")
    sapwood_compile_options(${target})
    target_compile_options(${target} PRIVATE -O1)
  else()
    sapwood_use_full_pch(${target})
  endif()
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES TIMEOUT 900)
  if(NOT library STREQUAL "sapwood_core")
    set_tests_properties(${target} PROPERTIES PROCESSORS 2)  # libtorch's threads stall where a core is taken
  endif()
endfunction()

sapwood_add_tests(sapwood_core_test sapwood_core ${SAPWOOD_TEST_FOLDERS_CORE})
if(SAPWOOD_WITH_TORCH)
  sapwood_add_tests(sapwood_torch_test sapwood_internal ${SAPWOOD_TEST_FOLDERS_TORCH})
  # libtorch comes without the headers of Gloo, which it holds.
  target_include_directories(sapwood_torch_test SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/test/declarations)
  sapwood_add_tests(sapwood_e2e_test sapwood_internal ${SAPWOOD_TEST_FOLDERS_E2E})
  if(TARGET sapwood_e2e_test AND TARGET sapwood_bench_common)
    target_link_libraries(sapwood_e2e_test PRIVATE sapwood_bench_common)
  endif()
endif()

# PyTorch's recorded decisions: on models, and on small programs that exercise single features.
foreach(corpus IN ITEMS corpus features)
  add_test(NAME parity_${corpus} COMMAND sapwood_parity ${PROJECT_SOURCE_DIR}/test/data/${corpus} --deep --quiet)
endforeach()

find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter)
foreach(check IN ITEMS layers house paths snippets)
  add_test(NAME check_${check} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_${check}.py)
endforeach()
add_test(NAME tools_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/tools/tools_test.py)
add_test(NAME parity_live_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/tools/parity_live_test.py)
if(TARGET sapwood_cli)
  add_test(NAME cli_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/test/cli/cli_test.py $<TARGET_FILE:sapwood_cli>)
endif()

# The sanitizers get a build of their own, of the core alone: it reads files that may be hostile.
if(NOT SAPWOOD_SANITIZE AND TARGET sapwood_core_test)
  add_test(NAME sapwood_core_asan
           COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}/core-asan
                   -P ${PROJECT_SOURCE_DIR}/cmake/RunCoreUnderSanitizers.cmake)
  set_tests_properties(sapwood_core_asan PROPERTIES TIMEOUT 2700)
endif()

if(SAPWOOD_WITH_TORCH AND NOT SAPWOOD_SANITIZE)
  add_test(NAME install_consumer
           COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
                   -DTORCH_DIR=${Torch_DIR} -DGENERATOR=${CMAKE_GENERATOR} -DVERSION=${PROJECT_VERSION}
                   -P ${PROJECT_SOURCE_DIR}/cmake/RunInstallConsumer.cmake)
  set_tests_properties(install_consumer PROPERTIES TIMEOUT 600)
endif()
