# Writes weft_build.hpp, from which a record knows the commit it was measured with:
#   WEFT_VERSION "0.1.0"   WEFT_COMPILER "GNU 12.2.0"   WEFT_BUILD_TYPE "Release"
#   WEFT_GIT_COMMIT "0123..." (40 digits), or "" where neither git nor an archive's commit.txt knows it
#   WEFT_GIT_DIRTY 0, 1, or -1 where unknown
# It is looked at in every build, but touched only when it would change. Runs as a script of its own at build time.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  if(WEFT_BACKEND STREQUAL cuda)
    string(APPEND compiler ", nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
  set(command ${CMAKE_COMMAND} -D header=${generated}/weft_build.hpp -D source=${CMAKE_CURRENT_SOURCE_DIR}
    -D version=${PROJECT_VERSION} -D compiler=${compiler} -D build_type=${CMAKE_BUILD_TYPE}
    -P ${CMAKE_CURRENT_LIST_FILE})
  add_custom_target(weft_build_identity COMMAND ${command} BYPRODUCTS ${generated}/weft_build.hpp VERBATIM COMMENT "Looking up the commit")
  add_library(weft_identity INTERFACE)
  target_include_directories(weft_identity INTERFACE ${generated})
  add_dependencies(weft_identity weft_build_identity)
  return()
endif()

# An image has no git: envs/build looks the commit up outside it.
set(found $ENV{WEFT_COMMIT})
if(NOT found)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/commit
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
string(REGEX MATCH "^([0-9a-f]*)-? (-?[01])$" found "${found}")
set(commit "${CMAKE_MATCH_1}")
set(dirty ${CMAKE_MATCH_2})

file(CONFIGURE OUTPUT ${header} @ONLY CONTENT [[
#pragma once
#define WEFT_VERSION "@version@"
#define WEFT_COMPILER "@compiler@"
#define WEFT_BUILD_TYPE "@build_type@"
#define WEFT_GIT_COMMIT "@commit@"
#define WEFT_GIT_DIRTY @dirty@
]])
