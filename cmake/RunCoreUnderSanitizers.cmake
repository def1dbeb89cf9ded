# Builds the core and its tests with address and undefined-behaviour sanitizers into BUILD and runs them. A test of ctest.
set(ENV{GTEST_OUTPUT} "")  # its cases are those of sapwood_core_test: this counts as one
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
                        -DSAPWOOD_SANITIZE=address,undefined -DSAPWOOD_WITH_TORCH=OFF -DSAPWOOD_BUILD_BENCH=OFF
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target sapwood_core_test COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${BUILD}/sapwood_core_test --gtest_brief=1 COMMAND_ERROR_IS_FATAL ANY)
