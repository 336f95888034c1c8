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

set(commit "")
set(dirty -1)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${source} rev-parse HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    # Results are outputs: new ones do not make the code that made them another.
    execute_process(COMMAND ${git} -C ${source} status --porcelain --untracked-files=no -- :/ :!/results
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "git status failed in ${source}.")
    endif()
    set(dirty 0)
    if(changes)
      set(dirty 1)
    endif()
  else()
    set(commit "")
  endif()
endif()
if(NOT commit)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/commit.txt commit REGEX "^[0-9a-f]+$")
endif()

file(CONFIGURE OUTPUT ${header} @ONLY CONTENT [[
#pragma once
#define WEFT_VERSION "@version@"
#define WEFT_COMPILER "@compiler@"
#define WEFT_BUILD_TYPE "@build_type@"
#define WEFT_GIT_COMMIT "@commit@"
#define WEFT_GIT_DIRTY @dirty@
]])
