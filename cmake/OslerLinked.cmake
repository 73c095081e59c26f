# The libraries that Osler's own are linked with; read by Osler's build and, installed, by find_package(osler).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(simdjson REQUIRED)
find_package(SQLite3 REQUIRED)

# osler_linked(NAME HEADER header LIBRARY library): a library that brings no package file of its own.
function(osler_linked name)
  cmake_parse_arguments(arg "" "HEADER;LIBRARY" "" ${ARGN})
  if(TARGET osler_${name})
    return()
  endif()
  string(TOUPPER ${name} prefix)
  find_path(${prefix}_INCLUDE_DIR ${arg_HEADER} REQUIRED)
  find_library(${prefix}_LIBRARY ${arg_LIBRARY} REQUIRED)
  add_library(osler_${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(osler_${name} SYSTEM INTERFACE ${${prefix}_INCLUDE_DIR})
  target_link_libraries(osler_${name} INTERFACE ${${prefix}_LIBRARY})
endfunction()

osler_linked(isal HEADER isa-l/crc.h LIBRARY isal)
osler_linked(lzma HEADER lzma.h LIBRARY lzma)
osler_linked(zstd HEADER zstd.h LIBRARY zstd)
