# SPDX-License-Identifier: Apache-2.0
# Installs BUILD into a fresh prefix, builds the consumer against it outside the tree, and runs it.
#   cmake -D BUILD=... -D WORK=... -D COMPILER=... -D TORCH=ON|OFF -P install_test.cmake
set(prefix ${WORK}/prefix)
set(project ${CMAKE_CURRENT_LIST_DIR}/consumer)
file(REMOVE_RECURSE ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
  endif()
endfunction()

function(configure name asked)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${project} -B ${WORK}/${name} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${COMPILER} -D "CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -D "HEADPOND_ASKED=${asked}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(status ${status} PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(consume name asked)
  configure(${name} "${asked}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the consumer '${name}' does not configure:\n${output}")
  endif()
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
  foreach(program IN LISTS ARGN)
    run(${WORK}/${name}/${program})
  endforeach()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB_RECURSE private_headers ${prefix}/*_internal.h)
if(private_headers)
  message(FATAL_ERROR "private headers were installed: ${private_headers}")
endif()

consume(core "" consumer)
file(STRINGS ${WORK}/core/CMakeCache.txt torch REGEX "^Torch_DIR")
if(torch)
  message(FATAL_ERROR "the core's package config looked for Torch: ${torch}")
endif()
if(TORCH)
  consume(torch "COMPONENTS;torch" consumer)
endif()

configure(unknown "COMPONENTS;turbine")  # the control: a component that does not exist
if(status EQUAL 0)
  message(FATAL_ERROR "find_package(headpond COMPONENTS turbine) was accepted")
endif()

# The operators of docs/add_an_operator.md, as their author builds them: a copy that sees nothing of this tree.
file(COPY ${CMAKE_CURRENT_LIST_DIR}/../../examples/own_operators DESTINATION ${WORK})
set(project ${WORK}/own_operators)
consume(own "" sliding_window mixup channel_permutation)
file(REMOVE_RECURSE ${WORK})
