# The course of docs/learn, compiled into the program: one source file that holds every page, figure and exercise's files.
include_guard()

# osler_course(OUT variable): the source file that holds the course.
function(osler_course)
  cmake_parse_arguments(arg "" "OUT" "" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/documents.cpp)
  set(course ${PROJECT_SOURCE_DIR}/docs/learn)
  file(GLOB_RECURSE documents CONFIGURE_DEPENDS ${course}/*.md ${course}/*.py ${course}/*.h ${course}/*.cpp ${course}/*.svg)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D COURSE=${course} -D OUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed_course.cmake
    DEPENDS ${documents} ${PROJECT_SOURCE_DIR}/cmake/embed_course.cmake
    COMMENT "Binding the course"
    VERBATIM)
  set(${arg_OUT} ${output} PARENT_SCOPE)
endfunction()
