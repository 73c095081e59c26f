# Cairo, which figures are drawn with; read by Osler's build and, installed, by find_package(osler). Defines osler_cairo
# where Cairo is there.
find_package(PkgConfig QUIET)

if(PkgConfig_FOUND AND NOT TARGET osler_cairo)
  pkg_check_modules(CAIRO QUIET IMPORTED_TARGET GLOBAL cairo cairo-svg cairo-pdf cairo-png)
  if(CAIRO_FOUND)
    add_library(osler_cairo INTERFACE IMPORTED GLOBAL)
    target_link_libraries(osler_cairo INTERFACE PkgConfig::CAIRO)
  endif()
endif()
