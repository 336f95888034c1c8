# How every source is compiled.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Another compiler than CI's may warn of more, and a user's build must not break on that.
set(weft_compiler_of_ci OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(weft_compiler_of_ci ON)
endif()
option(WEFT_WARNINGS_ARE_ERRORS "Treat every warning as an error" ${weft_compiler_of_ci})

add_library(weft_options INTERFACE)
target_include_directories(weft_options INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
set(host_flags -Wall -Wextra)
set(cuda_flags "SHELL:--display-error-number")
if(WEFT_WARNINGS_ARE_ERRORS)
  list(APPEND host_flags -Werror)
  list(APPEND cuda_flags "SHELL:-Werror all-warnings")
endif()
list(JOIN host_flags , host_flags_of_nvcc)
target_compile_options(weft_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${host_flags}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler=${host_flags_of_nvcc}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags}>")
target_link_options(weft_options INTERFACE LINKER:--as-needed)
if(WEFT_BACKEND STREQUAL cuda)
  target_compile_definitions(weft_options INTERFACE WEFT_BACKEND_CUDA=1 WEFT_BACKEND_HOST=0)
else()
  target_compile_definitions(weft_options INTERFACE WEFT_BACKEND_CUDA=0 WEFT_BACKEND_HOST=1)
endif()
