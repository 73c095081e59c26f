# Installs what a program needs that links Osler, moves it, and builds examples/consumer against it, far from this tree.
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
file(COPY ${SOURCE}/examples/consumer DESTINATION ${outside})

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
endif()
file(REMOVE_RECURSE ${outside})
