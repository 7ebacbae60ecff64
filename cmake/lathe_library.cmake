# lathe_library(NAME SOURCES a.cc … DEPS x y): the library lathe_NAME of one folder of src/; DEPS are sibling folders. It is
# compiled seeing its own headers, those of DEPS and what these show, nothing else of src/: each folder has a view, a directory
# with a link to it, or to its headers alone where folders inside it are libraries of their own.
set(LATHE_WARNINGS -Wall -Wextra -Wshadow -Wswitch -fno-exceptions -fno-rtti)
if(PROJECT_IS_TOP_LEVEL)
  list(APPEND LATHE_WARNINGS -Werror)
endif()
# What g++ 12 wrongly reports about inlined containers of its own library.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(LATHE_NOT_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
endif()

# Most of what a source costs to compile are headers of the standard library, so they are compiled once. Sources name what they
# use all the same: projects of which this is a part compile them without, and the preset headers as these do.
set(LATHE_STANDARD_HEADERS <algorithm> <array> <bit> <cmath> <cstdint> <cstdlib> <cstring> <functional> <limits> <map> <memory> <numeric>
  <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>)

# lathe_compiled_headers(NAME OPTIONS): what lathe_use_headers(TARGET NAME) needs; targets must be compiled with these options.
function(lathe_compiled_headers name)
  file(TOUCH ${PROJECT_BINARY_DIR}/${name}.cc)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_23)
  target_precompile_headers(${name} PRIVATE ${LATHE_STANDARD_HEADERS})
endfunction()

function(lathe_use_headers target name)
  if(TARGET ${name})
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # So that what ccache gives back, as new as it may be, is as good.
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
  lathe_compiled_headers(lathe_headers ${LATHE_WARNINGS} ${LATHE_NOT_WARNINGS})
endif()

option(LATHE_UNITY "Compile up to 16 sources of a target together: half the work of a first build, more behind a change" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

function(lathe_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  string(REPLACE "/" "_" target "lathe_${name}")
  add_library(${target} STATIC ${ARG_SOURCES})
  target_compile_options(${target} PRIVATE ${LATHE_WARNINGS} ${LATHE_NOT_WARNINGS})
  lathe_use_headers(${target} lathe_headers)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LATHE_UNITY})
  set(view ${PROJECT_BINARY_DIR}/views/${name})
  file(GLOB folders_inside */CMakeLists.txt)
  if(folders_inside)
    string(APPEND view ".alone")
    file(MAKE_DIRECTORY ${view}/lathe/${name})
    file(GLOB headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.h *.def)
    foreach(header ${headers})
      file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${view}/lathe/${name}/${header} SYMBOLIC)
    endforeach()
  else()
    cmake_path(GET name PARENT_PATH parent)
    file(MAKE_DIRECTORY ${view}/lathe/${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${view}/lathe/${name} SYMBOLIC)
  endif()
  target_include_directories(${target} PUBLIC ${view})
  target_compile_features(${target} PUBLIC cxx_std_23)
  set_property(GLOBAL APPEND PROPERTY LATHE_LIBRARIES ${target})
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep "${dep}")
    target_link_libraries(${target} PUBLIC lathe_${dep})
  endforeach()
endfunction()

# lathe_test(NAME SOURCES a.cc … DEPS x y): a GoogleTest program over the libraries of DEPS, run by ctest.
# Without type information, as the libraries: sanitizers compare the two.
set(LATHE_TEST_OPTIONS -O1 -Wall -Wextra -Werror -Wswitch -fno-rtti ${LATHE_NOT_WARNINGS})
function(lathe_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_options(${name}_test PRIVATE ${LATHE_TEST_OPTIONS})
  target_link_libraries(${name}_test PRIVATE GTest::gtest_main)
  lathe_use_headers(${name}_test lathe_test_headers)
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep "${dep}")
    target_link_libraries(${name}_test PRIVATE lathe_${dep})
  endforeach()
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
