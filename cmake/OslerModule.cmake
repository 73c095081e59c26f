# How a module is declared: one static library per folder of src/, its tests beside its sources.
include_guard()

add_library(osler_build_options INTERFACE)
target_compile_options(osler_build_options INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${OSLER_STRICT}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in `"text" + std::string` at -O3 where there are none (GCC bug 105651).
  target_compile_options(osler_build_options INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(OSLER_SANITIZE)
  target_compile_options(osler_build_options INTERFACE -fsanitize=${OSLER_SANITIZE} -fno-omit-frame-pointer
                                                      -fno-sanitize-recover=all)
  target_link_options(osler_build_options INTERFACE -fsanitize=${OSLER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code hides from GCC what is initialised: its own manual says that such warnings are then unreliable.
    target_compile_options(osler_build_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

find_program(OSLER_CCACHE ccache)
if(OSLER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source tree are hashed as relative ones, so that clones and build folders share their objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${OSLER_CCACHE})
endif()

# osler_test(NAME SOURCES file... LINK target...): one GoogleTest program, each of its tests known to ctest.
function(osler_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} osler_build_options GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE OSLER_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             OSLER_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES TIMEOUT 600)
endfunction()

# osler_module(NAME DEPENDS module... LINK library... GENERATED file...)
# DEPENDS is the module's border: tools/lint-borders reads it here and rejects any include beyond it.
function(osler_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK;GENERATED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|(^|/)main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  add_library(osler_${name} STATIC ${sources} ${arg_GENERATED})
  add_library(osler::${name} ALIAS osler_${name})
  list(TRANSFORM arg_DEPENDS PREPEND osler_ OUTPUT_VARIABLE modules)
  target_link_libraries(osler_${name} PUBLIC ${modules} PRIVATE ${arg_LINK} osler_build_options)
  target_include_directories(osler_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)

  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/osler/${name}/*.h)
  if(headers)
    target_sources(osler_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
    set_target_properties(osler_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  if(OSLER_BUILD_TESTS AND tests)
    osler_test(osler_${name}_test SOURCES ${tests} LINK osler_${name} ${arg_LINK})
  endif()
endfunction()
