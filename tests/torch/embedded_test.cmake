# Configures a stranger's project that has Osler as a subdirectory and links osler::torch, as the monitor's guide says.
# cmake -D SOURCE=source-tree -D WORK=folder -D COMPILER=compiler [-D TORCH=folder] -P embedded_test.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.25)
project(stranger LANGUAGES CXX)
add_subdirectory(${SOURCE} osler EXCLUDE_FROM_ALL)
add_executable(stranger main.cpp)
target_link_libraries(stranger PRIVATE osler::torch)
if(TARGET osler_cli OR TARGET osler_torch_test)
  message(FATAL_ERROR \"a library that is embedded brings its program or its tests\")
endif()
")
file(WRITE ${WORK}/main.cpp "int main() {}\n")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build -D CMAKE_CXX_COMPILER=${COMPILER}
                        -D OSLER_WITH_TORCH=ON -D Torch_DIR=${TORCH}
                RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT code STREQUAL "0")
  message(FATAL_ERROR "a project that embeds Osler cannot be configured:\n${said}")
endif()
