# Ends the configuration with a sentence that a user can act on, and leaves it where envs/build finds it.
function(weft_fail sentence)
  file(WRITE ${CMAKE_BINARY_DIR}/weft-problem "${sentence}\n")
  message(FATAL_ERROR "${sentence}")
endfunction()
