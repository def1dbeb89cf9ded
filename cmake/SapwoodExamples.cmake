# Every examples/<name>.cpp is a program of its own and a test: it must end with status 0.

sapwood_glob(example_files examples)
foreach(file IN LISTS example_files)
  get_filename_component(name ${file} NAME_WE)
  add_executable(example_${name} ${file})
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
                                                   RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_link_libraries(example_${name} PRIVATE sapwood)
  sapwood_use_full_pch(example_${name})
  if(SAPWOOD_BUILD_TESTS)
    add_test(NAME example_${name} COMMAND example_${name})
    set_tests_properties(example_${name} PROPERTIES TIMEOUT 300)
  endif()
endforeach()
