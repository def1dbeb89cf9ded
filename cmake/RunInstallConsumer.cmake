# Installs BUILD into a folder, moves that folder (nothing may depend on where it was), builds test/install against it
# and runs the result. A test of ctest.
set(folder ${BUILD}/install-test)
file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/first COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(RENAME ${folder}/first ${folder}/prefix)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/test/install -B ${folder}/build -G ${GENERATOR}
                        -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${folder}/prefix -DTorch_DIR=${TORCH_DIR}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${folder}/build/consumer OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "sapwood ${VERSION}\n")
  message(FATAL_ERROR "the consumer printed '${output}', expected 'sapwood ${VERSION}' first")
endif()
message("${output}")
