# SPDX-License-Identifier: Apache-2.0
# One room is one static library with its tests beside its sources:
#   headpond_room(base SOURCES a.cc b.cc TESTS a_test.cc PUBLIC tl::expected PRIVATE fmt::fmt)
# makes headpond_base (alias headpond::base) and, when testing, headpond_base_test. PUBLIC and PRIVATE are link libraries;
# rooms that this room uses are PUBLIC (tools/check_arrows.py holds the includes to the same arrows).

function(headpond_target_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(HEADPOND_WARNINGS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
      $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
  endif()
endfunction()

function(headpond_room room)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;PUBLIC;PRIVATE;TEST_LIBS" ${ARGN})
  set(target headpond_${room})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(headpond::${room} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room} POSITION_INDEPENDENT_CODE ON)
  headpond_target_flags(${target})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(HEADPOND_TESTS AND ARG_TESTS)
    headpond_test(${target}_test SOURCES ${ARG_TESTS} LIBS ${target} ${ARG_TEST_LIBS})
  endif()
endfunction()

# A GoogleTest program; each of its cases is one ctest entry. Tests see fmt, so that they can print.
function(headpond_test target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  headpond_target_flags(${target})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} fmt::fmt GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()
