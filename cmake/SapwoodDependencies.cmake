# Everything is found on this machine; nothing is downloaded. `make setup` installs it.

include(GNUInstallDirs)

find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(zstd REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)

if(SAPWOOD_WITH_TORCH)
  if(NOT Torch_DIR)
    file(GLOB torch_cmake LIST_DIRECTORIES true
         ${PROJECT_SOURCE_DIR}/.venv/lib/python*/site-packages/torch/share/cmake)
    list(APPEND CMAKE_PREFIX_PATH ${torch_cmake})
  endif()
  # TorchConfig looks for a static kineto that wheels don't ship and warns; nothing here links it.
  set(kineto_LIBRARY unused)
  find_package(Torch 2.13 QUIET)
  if(NOT Torch_FOUND)
    message(FATAL_ERROR "libtorch 2.13 was not found. Run tools/setup.sh, or name the folder that holds "
                        "Torch/TorchConfig.cmake: -DCMAKE_PREFIX_PATH=<torch>/share/cmake")
  endif()
  find_package(OpenMP REQUIRED COMPONENTS CXX)  # the runtime is libtorch's: both have the same soname
  # Installed binaries find each other wherever the installation is moved, and libtorch where it was.
  get_filename_component(torch_prefix ${Torch_DIR}/../../.. ABSOLUTE)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" ${torch_prefix}/lib)
endif()
find_library(DW_LIBRARY dw REQUIRED)  # elfutils: source lines of captured calls

if(SAPWOOD_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(SAPWOOD_WITH_TORCH AND SAPWOOD_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
