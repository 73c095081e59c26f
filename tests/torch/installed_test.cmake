# Installs Osler with its monitor, moves it, and builds and runs a stranger's training against it, far from this tree.
# cmake -D BUILD=build-tree -D SOURCE=source-tree -D WORK=folder -D COMPILER=compiler -D TORCH=folder -P installed_test.cmake
cmake_minimum_required(VERSION 3.25)

# run(words...): runs a command; ends the test when it fails. What it said is in `said`.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code STREQUAL "0")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed with ${code}:\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
foreach(component IN ITEMS development torch_development)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/there --component ${component})
endforeach()
file(RENAME ${WORK}/there ${WORK}/moved)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/torch/stranger -B ${WORK}/build -D CMAKE_PREFIX_PATH=${WORK}/moved
    -D Torch_DIR=${TORCH} -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/stranger)
if(NOT said MATCHES "logarithm of zero")
  message(FATAL_ERROR "the monitor of an installed Osler does not name the origin of a NaN:\n${said}")
endif()
