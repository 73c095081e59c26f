# How a module is declared: one static library per folder of src/, its tests beside its sources.
include_guard()

add_library(osler_build_options INTERFACE)
target_compile_options(osler_build_options INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${OSLER_STRICT}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in `"text" + std::string` at -O3 where there are none (GCC bug 105651).
  target_compile_options(osler_build_options INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
if(OSLER_SANITIZE)
  set(OSLER_SANITIZED true)
else()
  set(OSLER_SANITIZED false)
endif()
if(OSLER_SANITIZED)
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

if(OSLER_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes the sources that are compiled together for headers, in which unnamed namespaces would be a mistake.
  target_compile_options(osler_build_options INTERFACE -Wno-subobject-linkage)
endif()

# Every test that reads what others wrote: what `make test` also runs under the sanitizers. The label is for ctest, which
# otherwise lists tests whose programs were not built.
set(OSLER_FOREIGN_INPUT_LABEL foreign-input)
add_custom_target(osler_foreign_input_tests)

# osler_sanitized_program(TARGET): what a program with sanitizers in it needs; nothing where there are none.
function(osler_sanitized_program name)
  if(OSLER_SANITIZED)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/leaks.cpp)
  endif()
endfunction()

# osler_test(NAME [FOREIGN_INPUT] SOURCES file... LINK target... APART pattern...): one GoogleTest program, each of its tests
# known to ctest. FOREIGN_INPUT: it reads what others wrote, so it is also run under the sanitizers. APART: as in osler_module.
function(osler_test name)
  cmake_parse_arguments(arg "FOREIGN_INPUT" "" "SOURCES;LINK;APART" ${ARGN})
  set(tests ${arg_SOURCES})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  osler_apart(OUT apart PATTERNS ${arg_APART})
  list(REMOVE_ITEM tests "" ${apart})
  list(LENGTH tests count)
  set(joint)
  if(OSLER_UNITY AND count GREATER 1)
    list(REMOVE_ITEM arg_SOURCES ${tests})
    osler_joint_sources(${name} FILES ${tests} OUT joint)
  endif()
  add_executable(${name} ${arg_SOURCES} ${joint})
  target_link_libraries(${name} PRIVATE ${arg_LINK} osler_build_options GTest::gtest_main GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE OSLER_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             OSLER_BINARY_DIR="${PROJECT_BINARY_DIR}")
  osler_sanitized_program(${name})
  set(properties TIMEOUT 600)
  if(arg_FOREIGN_INPUT)
    add_dependencies(osler_foreign_input_tests ${name})
    list(APPEND properties LABELS ${OSLER_FOREIGN_INPUT_LABEL})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES ${properties})
endfunction()

# osler_module(NAME [FOREIGN_INPUT] DEPENDS module... LINK library... SOURCES file... GENERATED file...
#              CATALOGUE folder... APART pattern...)
# DEPENDS is the module's border: tools/lint-borders reads it here and rejects any include beyond it. FOREIGN_INPUT is
# handed on to the module's tests. SOURCES are more than those
# of its own folder. CATALOGUE names the folders with one entry per file. APART names the sources,
# tests among them, that are compiled each by itself.
function(osler_module name)
  cmake_parse_arguments(arg "FOREIGN_INPUT" "" "DEPENDS;LINK;SOURCES;GENERATED;CATALOGUE;APART" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|(^|/)main\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(joint)
  if(OSLER_UNITY AND arg_CATALOGUE)
    list(JOIN arg_CATALOGUE "|" folders)
    set(entries ${sources})
    list(FILTER entries INCLUDE REGEX "^(${folders})/")
    list(REMOVE_ITEM sources ${entries})
    osler_joint_sources(${name}_catalogue FILES ${entries} OUT joint)
  endif()
  list(APPEND sources ${arg_SOURCES})

  add_library(osler_${name} STATIC ${sources} ${joint} ${arg_GENERATED})
  add_library(osler::${name} ALIAS osler_${name})
  osler_compile_together(osler_${name} SOURCES ${sources} APART ${arg_APART})
  list(TRANSFORM arg_DEPENDS PREPEND osler_ OUTPUT_VARIABLE modules)
  # What a module is only compiled with is nothing that an installed library asks for.
  set(linked $<BUILD_INTERFACE:osler_build_options>)
  foreach(library IN LISTS arg_LINK)
    if(library IN_LIST OSLER_HEADER_ONLY)
      list(APPEND linked $<BUILD_INTERFACE:${library}>)
    else()
      list(APPEND linked ${library})
    endif()
  endforeach()
  target_link_libraries(osler_${name} PUBLIC ${modules} PRIVATE ${linked})
  target_include_directories(osler_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(osler_${name} PUBLIC cxx_std_20)
  set_target_properties(osler_${name} PROPERTIES EXPORT_NAME ${name})

  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/osler/${name}/*.h)
  if(headers)
    target_sources(osler_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
    set_target_properties(osler_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
  if(OSLER_BUILD_TESTS AND tests)
    set(foreign)
    if(arg_FOREIGN_INPUT)
      set(foreign FOREIGN_INPUT)
    endif()
    osler_test(osler_${name}_test ${foreign} SOURCES ${tests} LINK osler_${name} ${arg_LINK} APART ${arg_APART})
  endif()
endfunction()
