# What `cmake --install` puts where, for programs that link Osler and for people who run it.
include_guard()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/osler)

# osler_reach(OUT variable TARGETS target...): the modules that the targets are made of, those that need others first.
function(osler_reach)
  cmake_parse_arguments(arg "" "OUT" "TARGETS" ${ARGN})
  set(waiting ${arg_TARGETS})
  set(reached)
  while(waiting)
    list(POP_FRONT waiting target)
    if(target IN_LIST reached)
      continue()
    endif()
    list(APPEND reached ${target})
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    list(FILTER links INCLUDE REGEX "^osler_[a-z]+$")
    list(APPEND waiting ${links})
  endwhile()
  set(ordered)
  foreach(module IN LISTS modules)
    if(osler_${module} IN_LIST reached)
      list(PREPEND ordered ${module})
    endif()
  endforeach()
  set(${arg_OUT} ${ordered} PARENT_SCOPE)
endfunction()

# osler_install(NAME COMPONENT component TARGETS target... BESIDE module... [REQUIRES name...]): installs targets with all
# modules they need, unless those are installed with others (BESIDE); writes osler-NAME.cmake, which defines them.
function(osler_install name)
  cmake_parse_arguments(arg "" "COMPONENT" "TARGETS;BESIDE" ${ARGN})
  osler_reach(OUT needed TARGETS ${arg_TARGETS})
  list(REMOVE_ITEM needed "" ${arg_BESIDE})
  list(TRANSFORM needed PREPEND osler_ OUTPUT_VARIABLE targets)
  list(APPEND targets ${arg_TARGETS})
  list(REMOVE_DUPLICATES targets)
  install(TARGETS ${targets} EXPORT osler_${name}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${arg_COMPONENT})
  install(EXPORT osler_${name} NAMESPACE osler:: FILE osler-${name}.cmake DESTINATION ${package_folder}
          COMPONENT ${arg_COMPONENT})
endfunction()

# osler_pkg_config(NAME DESCRIPTION words REQUIRES package... MODULES module...): a file for those who do not use CMake.
function(osler_pkg_config name)
  cmake_parse_arguments(arg "" "DESCRIPTION" "REQUIRES;MODULES" ${ARGN})
  list(TRANSFORM arg_MODULES PREPEND -losler_)
  list(JOIN arg_MODULES " " libraries)
  list(JOIN arg_REQUIRES ", " requires)
  set(description ${arg_DESCRIPTION})
  cmake_path(SET folder NORMALIZE "/${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY / OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "[^/]+" ".." up "${folder}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/package/osler.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

osler_reach(OUT base_modules TARGETS osler_library osler_record)
osler_install(targets COMPONENT development TARGETS osler_library osler_record)
set(package_files ${PROJECT_BINARY_DIR}/package/osler-config.cmake ${PROJECT_BINARY_DIR}/package/osler-config-version.cmake
                  ${PROJECT_SOURCE_DIR}/cmake/OslerLinked.cmake)
osler_reach(OUT own_modules TARGETS osler_library)
osler_pkg_config(osler DESCRIPTION "Reads training logs and says what is wrong with a training" MODULES ${own_modules}
                 REQUIRES fmt libhwy libisal liblzma libzstd simdjson sqlite3)
osler_reach(OUT record_modules TARGETS osler_record)
list(REMOVE_ITEM record_modules ${own_modules})
osler_pkg_config(osler-record DESCRIPTION "Records a training and watches it while it runs" MODULES ${record_modules}
                 REQUIRES osler)
if(TARGET osler_figures)
  osler_install(figures COMPONENT development TARGETS osler_figures BESIDE ${base_modules})
  list(APPEND package_files ${PROJECT_SOURCE_DIR}/cmake/OslerLinkedFigures.cmake)
  osler_pkg_config(osler-figures DESCRIPTION "Draws a training with its findings" MODULES figures
                   REQUIRES osler cairo cairo-svg cairo-pdf cairo-png)
endif()
if(TARGET osler_torch)
  osler_install(torch COMPONENT torch_development TARGETS osler_torch BESIDE ${base_modules})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/package/osler-config.cmake.in
                              ${PROJECT_BINARY_DIR}/package/osler-config.cmake INSTALL_DESTINATION ${package_folder})
# Until version 1 anything may change between 0.x and 0.y.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/osler-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${package_files} DESTINATION ${package_folder} COMPONENT development)
