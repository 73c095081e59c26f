# Configures the libraries alone on a machine that has neither Cairo, CLI11, cpp-httplib nor OpenSSL.
# cmake -D SOURCE=source-tree -D WORK=folder -P libraries_alone_test.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${WORK})
execute_process(
  COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK} -D OSLER_BUILD_PROGRAM=OFF -D OSLER_BUILD_TESTS=OFF
          -D OSLER_WITH_TORCH=OFF -D CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -D CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
          -D CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -D CMAKE_CXX_COMPILER=${COMPILER}
  RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT code STREQUAL "0")
  message(FATAL_ERROR "Without what only the program needs the libraries cannot be configured:\n${said}")
endif()
file(READ ${WORK}/build.ninja build)
foreach(module IN ITEMS formats source diagnosis report recorder history)
  if(NOT build MATCHES "libosler_${module}[.]a")
    message(FATAL_ERROR "The libraries alone lack osler_${module}")
  endif()
endforeach()
foreach(library IN ITEMS cairo httplib ssl CLI11)
  if(build MATCHES "${library}[^\n]*[.](so|hpp)")
    message(FATAL_ERROR "The libraries alone ask for ${library}")
  endif()
endforeach()
