# The three kinds of target. Sources are .cpp with both backends; nvcc compiles them with the cuda backend.

function(weft_compile target)
  if(WEFT_BACKEND STREQUAL cuda)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  endif()
  target_link_libraries(${target} PUBLIC weft_options Threads::Threads)
  if(WEFT_BACKEND STREQUAL cuda)
    target_link_libraries(${target} PUBLIC CUDA::cudart_static ${CMAKE_DL_LIBS})
  endif()
endfunction()

# weft_sources(variable): every .cpp of the folder but main.cpp, in order of name, so that a new one need not be named
# anywhere. NAME_host.cpp and NAME_cuda.cpp are for one backend only.
function(weft_sources variable)
  set(other_backend cuda)
  if(WEFT_BACKEND STREQUAL cuda)
    set(other_backend host)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "(/main|_${other_backend})\\.cpp$")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# weft_library(name [LINK ...]): what programs share, the sources of the folder. Links and includes pass on to whoever
# links it.
function(weft_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  weft_sources(sources)
  add_library(${name} STATIC ${sources})
  weft_compile(${name})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
endfunction()

# weft_program(name [LINK ...]): build/<backend>/bin/<name>. All sources of the folder but main.cpp make the object
# library <name>_cases, whose registrars, unlike an archive's, always reach whoever links it.
function(weft_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  weft_sources(sources)
  add_library(${name}_cases OBJECT ${sources})
  weft_compile(${name}_cases)
  target_link_libraries(${name}_cases PUBLIC ${arg_LINK})
  weft_main(${name} LINK ${name}_cases ${arg_LINK})
endfunction()

# weft_main(name LINK ...): a program that is main.cpp and libraries.
function(weft_main name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_executable(${name} main.cpp)
  weft_compile(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
endfunction()

# weft_test(name SOURCES ... LINK ...): build/<backend>/tests/<name>, part of the target weft_tests.
function(weft_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(test_${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  set_target_properties(test_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  weft_compile(test_${name})
  target_link_libraries(test_${name} PRIVATE ${arg_LINK})
  add_dependencies(weft_tests test_${name})
endfunction()

# weft_tests(folder): a test for every .cpp of the folder. It may use all libraries, and the cases of the program
# whose name it begins with: p2p_pairs.cpp those of p2p.
function(weft_tests folder)
  add_custom_target(weft_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(link)
    foreach(library weft_mpi weft_topology weft_core)
      if(TARGET ${library})
        list(APPEND link ${library})
      endif()
    endforeach()
    string(REGEX REPLACE "_.*" "" program ${name})
    if(TARGET ${program}_cases)
      list(APPEND link ${program}_cases)
    endif()
    weft_test(${name} SOURCES ${source} LINK ${link})
    target_include_directories(test_${name} PRIVATE ${folder})
  endforeach()
endfunction()
