# SPDX-License-Identifier: Apache-2.0
# What keeps builds short: a compiler cache that knows the sources again in any clone, and headers of others compiled once.
#
#   headpond_precompiled(test LIBS GTest::gmock HEADERS gmock/gmock.h)   headers that many sources of a kind begin with
#   headpond_use_precompiled(headpond_io_test test)                      this target's sources begin with them
#   headpond_join_sources(sources headpond_io_test)                      fewer files to compile instead of these sources
#
# A source includes what it needs all the same: the presets `clang` and `inject` and clang-tidy compile each one alone and
# without these.

# Objects do not say where the clone lies, so one clone's objects serve the next.
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(HEADPOND_CCACHE ccache)
    if(HEADPOND_CCACHE)
      set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros ${HEADPOND_CCACHE})
      if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        add_compile_options($<$<BOOL:${HEADPOND_PCH}>:-fpch-preprocess>)  # Else ccache does not see what was precompiled.
      endif()
    endif()
  endif()
endif()

# g++ spends up to a sixth of its time on finding memory to free; with this it begins at 1.5 GB, which only sources with
# libtorch come near. Only where as many compilers as there are processors have room for that.
cmake_host_system_information(RESULT headpond_memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
cmake_host_system_information(RESULT headpond_processors QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR headpond_memory_each "${headpond_memory} / ${headpond_processors}")
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL GNU AND headpond_memory_each GREATER_EQUAL 2048)
  add_compile_options(--param=ggc-min-heapsize=1500000)
endif()

# A linker that takes a tenth of the time where there is much to link.
if(HEADPOND_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  find_program(HEADPOND_LLD NAMES ld.lld)
  if(HEADPOND_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

set(headpond_standard_headers algorithm array atomic bit charconv chrono cmath condition_variable cstdint cstring deque filesystem
  fstream functional iostream limits map memory mutex numeric optional ranges set span sstream stop_token string string_view thread
  tuple type_traits unordered_map unordered_set utility variant vector)

# Only headers of the system: their paths are the same for every clone. tl/expected.hpp is the file that is compiled.
function(headpond_precompiled kind)
  cmake_parse_arguments(ARG "PIC" "" "LIBS;HEADERS;OPTIONS" ${ARGN})
  if(NOT HEADPOND_PCH)
    return()
  endif()
  find_file(HEADPOND_EXPECTED tl/expected.hpp REQUIRED)
  set(target headpond_pch_${kind})
  set(folder ${PROJECT_BINARY_DIR}/pch)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${HEADPOND_EXPECTED})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${ARG_PIC})
  headpond_target_flags(${target})
  target_link_libraries(${target} PRIVATE tl::expected ${ARG_LIBS})
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS} -x c++-header)
  set(text)
  foreach(header IN LISTS headpond_standard_headers ARG_HEADERS)
    target_compile_options(${target} PRIVATE "SHELL:-include ${header}")
    string(APPEND text "#include <${header}>\n")
  endforeach()
  set_source_files_properties(${HEADPOND_EXPECTED} PROPERTIES LANGUAGE CXX)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
    set(file ${folder}/${kind}.pch)
    set(use "SHELL:-include-pch ${file}")
  else()
    file(CONFIGURE OUTPUT ${folder}/${kind}.h CONTENT "${text}#include <tl/expected.hpp>\n" @ONLY)
    set(file ${folder}/${kind}.h.gch)
    set(use -Winvalid-pch "SHELL:-include ${folder}/${kind}.h")
  endif()
  add_custom_command(OUTPUT ${file} COMMAND ln -f $<TARGET_OBJECTS:${target}> ${file} DEPENDS $<TARGET_OBJECTS:${target}> VERBATIM)
  add_custom_target(${target}_file DEPENDS ${file})
  set_target_properties(${target} PROPERTIES HEADPOND_FILE "${file}" HEADPOND_USE "${use}")
endfunction()

# Makes the `list` of a target's sources one of fewer files that include them, compiled with the options in ARGN: much of a
# source's time goes to headers of the project that its neighbours read as well. A source belongs to the group for which the
# hash of the group's number and the source's name is the largest (rendezvous hashing): a new source changes one group, and a
# new group takes a few sources from each. A source with definitions of its own stays alone, and so does one that
# headpond_alone names, because a name of it is also a neighbour's. clang-tidy and the preset `clang` look at each source
# alone.
function(headpond_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(headpond_join_sources list target)
  if(NOT HEADPOND_PCH)
    return()
  endif()
  set(files)
  set(joined)
  foreach(source IN LISTS ${list})
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(definitions OR alone)
      list(APPEND files ${source})
    else()
      list(APPEND joined ${source})
    endif()
  endforeach()
  list(LENGTH joined count)
  math(EXPR groups "${count} / 12 + 1")
  foreach(source IN LISTS joined)
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    set(most)
    foreach(candidate RANGE 1 ${groups})
      string(MD5 rank "${candidate} ${path}")
      if("${rank}" STRGREATER "${most}")
        set(most ${rank})
        set(group ${candidate})
      endif()
    endforeach()
    string(APPEND text_${group} "#include \"${path}\"\n")
  endforeach()
  foreach(group RANGE 1 ${groups})
    if(text_${group})
      set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${group}.cc)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${group}}" @ONLY)
      list(APPEND files ${file})
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS
        "-Wno-shadow;$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>;${ARGN}")  # A neighbour may have the name.
    endif()
  endforeach()
  set(${list} ${files} PARENT_SCOPE)
endfunction()

function(headpond_use_precompiled target kind)
  if(NOT HEADPOND_PCH)
    return()
  endif()
  get_target_property(file headpond_pch_${kind} HEADPOND_FILE)
  get_target_property(use headpond_pch_${kind} HEADPOND_USE)
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${file})
  target_compile_options(${target} PRIVATE ${use})
endfunction()
