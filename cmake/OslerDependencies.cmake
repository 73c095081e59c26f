# Third-party libraries, each found once. docs/dependencies.md says why we use each.
include_guard()

# What the libraries for training programs need: statistics, recorder, diagnosis, monitor.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(hwy REQUIRED)
find_package(SQLite3 REQUIRED)

find_path(ISAL_INCLUDE_DIR isa-l/crc.h REQUIRED)
find_library(ISAL_LIBRARY isal REQUIRED)
add_library(osler_isal INTERFACE)
target_include_directories(osler_isal SYSTEM INTERFACE ${ISAL_INCLUDE_DIR})
target_link_libraries(osler_isal INTERFACE ${ISAL_LIBRARY})

find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
add_library(osler_protozero INTERFACE)
target_include_directories(osler_protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})

find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
add_library(osler_zstd INTERFACE)
target_include_directories(osler_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
target_link_libraries(osler_zstd INTERFACE ${ZSTD_LIBRARY})

if(NOT OSLER_BUILD_PROGRAM)
  return()
endif()

# What the program needs beside them: readers, figures, the server, the command line.
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
find_package(PkgConfig REQUIRED)

find_path(FAST_FLOAT_INCLUDE_DIR fast_float/fast_float.h REQUIRED)
add_library(osler_fast_float INTERFACE)
target_include_directories(osler_fast_float SYSTEM INTERFACE ${FAST_FLOAT_INCLUDE_DIR})

pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo cairo-svg cairo-pdf cairo-png)
add_library(osler_cairo INTERFACE)
target_link_libraries(osler_cairo INTERFACE PkgConfig::CAIRO)

pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(OpenSSL REQUIRED)
add_library(osler_httplib INTERFACE)
target_link_libraries(osler_httplib INTERFACE PkgConfig::HTTPLIB OpenSSL::SSL)
