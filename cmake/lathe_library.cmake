# lathe_library(NAME SOURCES a.cc … DEPS x y): the library lathe_NAME of one folder of src/; DEPS are sibling folders. It is
# compiled seeing its own headers, those of DEPS and what these show, nothing else of src/: each folder has a view, a directory
# with a link to it, or to its headers alone where folders inside it are libraries of their own.
set(LATHE_WARNINGS -Wall -Wextra -Werror -Wshadow -Wswitch -fno-exceptions -fno-rtti)
# What g++ 12 wrongly reports about inlined containers of its own library.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(LATHE_NOT_WARNINGS -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
endif()

# The folders that may include <nlohmann/json.hpp>.
set(LATHE_JSON_FOLDERS formats nn compile api)

function(lathe_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  string(REPLACE "/" "_" target "lathe_${name}")
  add_library(${target} STATIC ${ARG_SOURCES})
  target_compile_options(${target} PRIVATE ${LATHE_WARNINGS} ${LATHE_NOT_WARNINGS})
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
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${view}> $<INSTALL_INTERFACE:include/tensorlathe>)
  target_compile_features(${target} PUBLIC cxx_std_23)
  set_property(GLOBAL APPEND PROPERTY LATHE_LIBRARIES ${target})
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep "${dep}")
    target_link_libraries(${target} PUBLIC lathe_${dep})
  endforeach()
  if(name IN_LIST LATHE_JSON_FOLDERS)
    target_link_libraries(${target} PUBLIC lathe_json)
  endif()
endfunction()

# lathe_test(NAME SOURCES a.cc … DEPS x y): a GoogleTest program over the libraries of DEPS, run by ctest.
# Without type information, as the libraries: sanitizers compare the two.
function(lathe_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_compile_options(${name}_test PRIVATE -O1 -Wall -Wextra -Werror -Wswitch -fno-rtti ${LATHE_NOT_WARNINGS})
  target_link_libraries(${name}_test PRIVATE GTest::gtest_main)
  foreach(dep ${ARG_DEPS})
    string(REPLACE "/" "_" dep "${dep}")
    target_link_libraries(${name}_test PRIVATE lathe_${dep})
  endforeach()
  add_test(NAME ${name} COMMAND ${name}_test)
endfunction()
