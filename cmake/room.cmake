# SPDX-License-Identifier: Apache-2.0
# The few verbs in which every CMakeLists.txt of the project is written.
#
#   headpond_files(base LEAVE drafts)
#     Lists the .cc files below this folder, but for those below LEAVE: base_sources, base_tests (*_test.cc) and
#     base_support (*_test_support.cc). A new file is seen by the next build.
#   headpond_room(base [BUSY|FUZZED] PUBLIC tl::expected PRIVATE fmt::fmt TEST_LIBS rapidcheck)
#     One room: the static library headpond_base (alias headpond::base) of this folder's sources, its tests beside them as
#     headpond_base_test, its installed headers. What its tests share (*_test_support.cc) is headpond_base_test_support,
#     which other rooms' tests may link. LEAVE names files and folders that are built otherwise. PUBLIC and PRIVATE
#     are link libraries; rooms that this room uses are PUBLIC (tools/check_arrows.py holds the includes to the same
#     arrows). A room that uses torch is installed in that component. BUSY: most of the time of tests is spent in it, so a
#     debug build optimises it. FUZZED: it is busy, and libFuzzer watches which of its branches an input takes.
#   headpond_test(headpond_x_test SOURCES x_test.cc LIBS headpond::queue)       a GoogleTest program, one ctest entry a suite
#   headpond_program(cli headpond SOURCES main.cc LIBS headpond::headpond)      target, then name: <build>/headpond
#   headpond_example(01_queue LIBS headpond::torch)                             <build>/examples/01_queue, run by the tests;
#                                                                               its source may lie in FOLDER
#   headpond_fuzz(idx SOURCES idx_fuzz.cc LIBS headpond::io)                    libFuzzer target, or the replay of its corpus
#   headpond_slow_test(kill_mnist COMMAND ...)                                  run by ./dev slow only

# programs: what people use, the libraries and the command line. The tests build the examples as well. plain_tests and
# fuzz_programs: below. These short names are for `./dev`; a project that has this one as a part may have its own.
foreach(set programs examples plain_tests fuzz_programs)
  add_custom_target(headpond_${set})
  if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(${set})
    add_dependencies(${set} headpond_${set})
  endif()
endforeach()

# HEADPOND_BUSY_FLAGS: of busy libraries and of the fuzz targets, where a debug build's are not what makes them fast. A kind
# without flags of its own is the kind before it.
set(headpond_busy_room room)
if(HEADPOND_BUSY_FLAGS)
  set(headpond_busy_room busy_room)
endif()
set(headpond_fuzzed_room ${headpond_busy_room})
if(HEADPOND_FUZZ)
  set(headpond_fuzzed_room fuzzed_room)
endif()
set(headpond_busy_room_flags ${HEADPOND_BUSY_FLAGS})
set(headpond_fuzzed_room_flags ${HEADPOND_BUSY_FLAGS} -fsanitize=fuzzer-no-link)

# headpond_target_flags(target [KIND]): KIND names the precompiled headers that its sources begin with (below).
function(headpond_target_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(HEADPOND_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
      $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # g++ 12 sees an overlap in "text" + std::to_string(n) at -O3 (GCC bug 105651)
    if(HEADPOND_PCH)  # The same bug under other names; ASan sees what these would, and the preset inject has them on.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>)
    endif()
    if(HEADPOND_SANITIZE)  # g++ 12 sees uninitialised values in code that the sanitizers insert
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    endif()
  endif()
  if(ARGC GREATER 1)
    target_compile_options(${target} PRIVATE ${headpond_${ARGV1}_flags})
    if("${ARGV1}" STREQUAL "torch")
      target_compile_options(${target} PRIVATE -fPIC)  # One for all: it is large.
    endif()
    headpond_use_precompiled(${target} ${ARGV1})
  endif()
endfunction()

# For tests and examples: a quarter less time of the compiler.
function(headpond_soon_built target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

headpond_precompiled(plain)
headpond_precompiled(program LIBS fmt::fmt HEADERS fmt/format.h)
set(kinds room ${headpond_busy_room} ${headpond_fuzzed_room})
list(REMOVE_DUPLICATES kinds)
foreach(kind IN LISTS kinds)
  headpond_precompiled(${kind} PIC LIBS fmt::fmt HEADERS fmt/format.h OPTIONS ${headpond_${kind}_flags})
endforeach()
if(HEADPOND_TESTS)
  headpond_precompiled(test LIBS fmt::fmt GTest::gmock HEADERS fmt/format.h gmock/gmock.h gtest/gtest.h)
endif()
if(HEADPOND_TORCH)
  headpond_precompiled(torch PIC LIBS torch HEADERS torch/torch.h)  # Without fmt: the room `train` must do without.
endif()

function(headpond_files name)
  cmake_parse_arguments(ARG "" "" "LEAVE" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(left IN LISTS ARG_LEAVE)
    list(FILTER files EXCLUDE REGEX "^${left}(/|$)")
  endforeach()
  set(tests ${files})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(support ${files})
  list(FILTER support INCLUDE REGEX "_test_support\\.cc$")
  list(FILTER files EXCLUDE REGEX "_test(_support)?\\.cc$")
  list(TRANSFORM support PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(${name}_sources ${files} PARENT_SCOPE)
  set(${name}_tests ${tests} PARENT_SCOPE)
  set(${name}_support ${support} PARENT_SCOPE)
endfunction()

function(headpond_room room)
  cmake_parse_arguments(ARG "BUSY;FUZZED" "" "LEAVE;PUBLIC;PRIVATE;TEST_LIBS" ${ARGN})
  headpond_files(${room} LEAVE ${ARG_LEAVE})
  set(target headpond_${room})
  headpond_join_sources(${room}_sources ${target})
  add_library(${target} STATIC ${${room}_sources})
  add_library(headpond::${room} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room} POSITION_INDEPENDENT_CODE ON)
  set(torch)
  if("torch" IN_LIST ARG_PUBLIC)
    set(torch TORCH)
    headpond_target_flags(${target} torch)
  elseif(ARG_FUZZED)
    headpond_target_flags(${target} ${headpond_fuzzed_room})
  elseif(ARG_BUSY)
    headpond_target_flags(${target} ${headpond_busy_room})
  else()
    headpond_target_flags(${target} room)
  endif()
  add_dependencies(headpond_programs ${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(HEADPOND_INSTALL)
    set(set headpond-targets)
    if("torch" IN_LIST ARG_PUBLIC)
      set(set headpond-torch-targets)
    endif()
    install(TARGETS ${target} EXPORT ${set} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/headpond/${room}
      FILES_MATCHING PATTERN "*.h" PATTERN "*_internal.h" EXCLUDE PATTERN articles EXCLUDE)
  endif()
  if(HEADPOND_TESTS)
    set(support)
    if(${room}_support)
      set(support ${target}_test_support)
      add_library(${support} STATIC ${${room}_support})
      headpond_target_flags(${support} test)
      target_link_libraries(${support} PUBLIC ${target} ${ARG_TEST_LIBS} fmt::fmt GTest::gmock)
    endif()
    headpond_test(${target}_test ${torch} SOURCES ${${room}_tests} LIBS ${support} ${target} ${ARG_TEST_LIBS})
  endif()
endfunction()

# Tests see fmt, so that they can print. One ctest entry a suite, named after the program and the suite (io.Csv): a process
# for each case would take longer than the cases. A last entry finds a case that is in no suite that was seen here.
# The limits of time end what hangs: a busy machine takes ten times as long as an idle one.
function(headpond_test target)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;LIBS" ${ARGN})
  set(compiled ${ARG_SOURCES})
  headpond_join_sources(compiled ${target})
  add_executable(${target} ${compiled})
  if(ARG_TORCH)
    headpond_target_flags(${target} torch)
    set(plain PLAIN)
  else()
    headpond_target_flags(${target} test)
    set(plain)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} fmt::fmt GTest::gmock GTest::gtest_main)
  if(HEADPOND_SANITIZE MATCHES undefined AND NOT HEADPOND_CHECK_TESTS)
    # A fifth of the compiler's time. The libraries' sources have these checks; at night tests have them, too, and with
    # them the inline functions of headers.
    target_compile_options(${target} PRIVATE -fno-sanitize=vptr,alignment)
  endif()
  headpond_add_suites(${target} ${plain} SOURCES ${ARG_SOURCES})
endfunction()

# The label of tests that run without sanitizers, in the release build: those with libtorch (whose headers clang does not
# compile as C++20), those that take memory away, and those of the installed package. This target builds their programs.
add_dependencies(headpond_plain_tests headpond_examples)

# headpond_add_suites(target SOURCES ... [PLAIN] [FAIL REGEX]): FAIL, what no suite may say beside that it ran nothing.
function(headpond_add_suites target)
  cmake_parse_arguments(ARG "PLAIN" "FAIL" "SOURCES" ${ARGN})
  set(labels)
  if(ARG_PLAIN)
    set(labels LABELS plain)
    add_dependencies(headpond_plain_tests ${target})
    headpond_soon_built(${target})
  endif()
  string(REGEX REPLACE "^headpond_(.*)_test$" "\\1" name ${target})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_SOURCES})
  set(suites)
  set(all)
  foreach(source IN LISTS ARG_SOURCES)
    file(STRINGS ${source} heads REGEX "^((TYPED_)?TEST(_[FP])?|RC_GTEST(_FIXTURE|_TYPED_FIXTURE)?_PROP)\\(")
    list(TRANSFORM heads REPLACE "^[A-Z_]*\\(([^,]*),.*$" "\\1")
    list(APPEND suites ${heads})
  endforeach()
  list(REMOVE_DUPLICATES suites)
  foreach(suite IN LISTS suites)
    set(filter "${suite}.*:*/${suite}.*:${suite}/*")
    string(APPEND all "${filter}:")
    add_test(NAME ${name}.${suite} COMMAND ${target} --gtest_filter=${filter})
    set_tests_properties(${name}.${suite} PROPERTIES TIMEOUT 600 ${labels} FAIL_REGULAR_EXPRESSION "Running 0 tests;${ARG_FAIL}")
  endforeach()
  add_test(NAME ${name}.rest COMMAND ${target} --gtest_filter=-${all})
  set_tests_properties(${name}.rest PROPERTIES TIMEOUT 300 ${labels} PASS_REGULAR_EXPRESSION "Running 0 tests")
endfunction()

function(headpond_program target name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  if("headpond::torch" IN_LIST ARG_LIBS)
    headpond_target_flags(${target} torch)
  else()
    headpond_target_flags(${target} program)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  add_dependencies(headpond_programs ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(HEADPOND_INSTALL)
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

function(headpond_example name)
  cmake_parse_arguments(ARG "" "FOLDER" "LIBS;ARGS" ${ARGN})
  if(NOT HEADPOND_EXAMPLES)
    return()
  endif()
  set(target headpond_example_${name})
  add_executable(${target} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_FOLDER}/${name}.cc)
  if("headpond::torch" IN_LIST ARG_LIBS)
    headpond_target_flags(${target} torch)
  else()
    headpond_target_flags(${target} plain)
  endif()
  headpond_soon_built(${target})
  target_link_libraries(${target} PRIVATE headpond::headpond ${ARG_LIBS})
  add_dependencies(headpond_examples ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  if(HEADPOND_TESTS)
    add_test(NAME example.${name} COMMAND ${target} ${ARG_ARGS})
    set_tests_properties(example.${name} PROPERTIES TIMEOUT 300 LABELS plain)
  endif()
endfunction()

# With the tests, the files of fuzz/corpus/<name> are given to the same function once each, so that no input that ever
# crashed can come back. Under HEADPOND_FUZZ the program is libFuzzer's, <build>/fuzz/<name>.
function(headpond_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  set(target headpond_fuzz_${name})
  set(corpus ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
  add_executable(${target} ${ARG_SOURCES})
  target_compile_options(${target} PRIVATE -fPIC)  # As the rooms, to share their precompiled headers.
  headpond_target_flags(${target} ${headpond_fuzzed_room})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} fmt::fmt)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  add_dependencies(headpond_fuzz_programs ${target})
  if(HEADPOND_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(arguments -runs=0 ${corpus})
  else()
    target_link_libraries(${target} PRIVATE headpond_fuzz_replay)
    set(arguments ${corpus})
  endif()
  if(HEADPOND_TESTS)
    add_test(NAME fuzz_corpus_${name} COMMAND ${target} ${arguments})
    set_tests_properties(fuzz_corpus_${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()

function(headpond_slow_test name)
  add_test(NAME slow.${name} CONFIGURATIONS Slow ${ARGN})
  set_tests_properties(slow.${name} PROPERTIES LABELS slow TIMEOUT 3600 RUN_SERIAL ON)
endfunction()
