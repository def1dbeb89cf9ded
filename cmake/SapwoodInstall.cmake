# `cmake --install` lays down what find_package(sapwood) needs: library, public headers, package files; and the command line.

include(CMakePackageConfigHelpers)

install(TARGETS sapwood EXPORT sapwoodTargets)
if(TARGET sapwood_cli)
  install(TARGETS sapwood_cli)
endif()
install(DIRECTORY include/sapwood TYPE INCLUDE)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sapwood)
install(EXPORT sapwoodTargets NAMESPACE sapwood:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sapwoodConfig.cmake.in sapwoodConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(sapwoodConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sapwoodConfig.cmake ${PROJECT_BINARY_DIR}/sapwoodConfigVersion.cmake
        DESTINATION ${package_dir})
