# Third-party libraries, each found once. docs/dependencies.md says why we use each.
include_guard()

# What is linked by the libraries for other programs; installed with them, so that a stranger's build finds the same.
include(OslerLinked)

# What they are compiled with, from headers alone: nobody who links them needs it.
find_package(nlohmann_json REQUIRED)

find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
add_library(osler_protozero INTERFACE)
target_include_directories(osler_protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})

find_path(FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h REQUIRED)
add_library(osler_fast_float INTERFACE)
target_include_directories(osler_fast_float SYSTEM INTERFACE ${FAST_FLOAT_INCLUDE_DIR})

set(OSLER_HEADER_ONLY nlohmann_json::nlohmann_json osler_protozero osler_fast_float fmt::fmt-header-only)

if(NOT OSLER_BUILD_PROGRAM)
  return()
endif()

# What the program needs beside them: figures, the server, the command line.
find_package(PkgConfig REQUIRED)
include(OslerLinkedFigures)
if(NOT TARGET osler_cairo)
  message(FATAL_ERROR "Cairo is missing; -DOSLER_BUILD_PROGRAM=OFF builds the libraries without it")
endif()
find_package(CLI11 REQUIRED)

pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(OpenSSL REQUIRED)
add_library(osler_httplib INTERFACE)
target_link_libraries(osler_httplib INTERFACE PkgConfig::HTTPLIB OpenSSL::SSL)
