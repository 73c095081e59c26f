# Installs what a program needs that links Osler, moves it, and builds examples/consumer and tests/strangers against it, far
# from this tree.
# cmake -D BUILD=build-tree -D SOURCE=source-tree -D WORK=folder -P installed_test.cmake
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

# diagnoses(PROGRAM): the program finds what is wrong with a sick log.
function(diagnoses program)
  run(${program} ${SOURCE}/examples/logs/sick.csv)
  if(NOT said MATCHES "loss-diverging" OR NOT said MATCHES "lr-too-high")
    message(FATAL_ERROR "${program} says of a diverging run:\n${said}")
  endif()
endfunction()

if(DEFINED ENV{TMPDIR})
  set(temporary $ENV{TMPDIR})
else()
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 name)
set(outside ${temporary}/osler-consumer-${name})
file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/examples/consumer ${SOURCE}/tests/strangers/recorder DESTINATION ${outside})

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/there --component development)
file(RENAME ${WORK}/there ${WORK}/moved)

file(GLOB_RECURSE described ${WORK}/moved/*.cmake ${WORK}/moved/*.pc)
foreach(file IN LISTS described)
  file(READ ${file} text)
  string(FIND "${text}" "${SOURCE}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${file} names the tree that it was built from")
  endif()
endforeach()

# Without pkg-config there is no Cairo: reading and diagnosing do not ask for it.
run(${CMAKE_COMMAND} -G Ninja -S ${outside}/consumer -B ${outside}/build -D CMAKE_PREFIX_PATH=${WORK}/moved
    -D CMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -D CMAKE_DISABLE_FIND_PACKAGE_Torch=ON -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${outside}/build)
diagnoses(${outside}/build/consumer)

find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE pc ${WORK}/moved/*/osler.pc)
  cmake_path(GET pc PARENT_PATH folder)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  run(${pkg_config} --cflags --libs osler)
  separate_arguments(flags UNIX_COMMAND "${said}")
  run(${COMPILER} ${outside}/consumer/main.cpp -o ${outside}/by-pkg-config ${flags})
  diagnoses(${outside}/by-pkg-config)
  run(${pkg_config} --exists osler-record)

  # With Cairo at hand another training records and draws itself.
  run(${CMAKE_COMMAND} -G Ninja -S ${outside}/recorder -B ${outside}/build-recorder -D CMAKE_PREFIX_PATH=${WORK}/moved
      -D CMAKE_DISABLE_FIND_PACKAGE_Torch=ON -D CMAKE_CXX_COMPILER=${COMPILER})
  run(${CMAKE_COMMAND} --build ${outside}/build-recorder)
  run(${outside}/build-recorder/recorder ${outside}/drawn.svg)
  file(READ ${outside}/drawn.svg drawn)
  if(NOT drawn MATCHES "<svg")
    message(FATAL_ERROR "what osler::figures drew of a recorded training is no picture:\n${said}")
  endif()
endif()

# Until version 1 another minor version is another interface: whoever asks for the next one is refused.
file(STRINGS ${outside}/recorder/CMakeLists.txt asks REGEX "^find_package")
string(REGEX MATCH "0[.]([0-9]+)" version "${asks}")
math(EXPR next "${CMAKE_MATCH_1} + 1")
file(MAKE_DIRECTORY ${outside}/newer)
file(WRITE ${outside}/newer/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES CXX)\nfind_package(osler 0.${next} REQUIRED)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${outside}/newer -B ${outside}/build-newer
                        -D CMAKE_PREFIX_PATH=${WORK}/moved -D CMAKE_CXX_COMPILER=${COMPILER}
                RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks its lines
if(code STREQUAL "0" OR NOT said MATCHES "compatible with requested version")
  message(FATAL_ERROR "a program that asks for osler 0.${next} is not told that this is another version:\n${said}")
endif()
file(REMOVE_RECURSE ${outside})
