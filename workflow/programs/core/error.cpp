#include "core/error.hpp"

#include <cstdio>
#include <exception>

namespace weft {

namespace {

std::string sentence(const std::string& library, const std::string& call, const std::string& words,
                     const char* file, int line) {
  return library + " failed: " + call + ": " + words + " (" + file + ":" + std::to_string(line) + ")";
}

}  // namespace

CallError::CallError(const std::string& library, const std::string& call, const std::string& words,
                     const char* file, int line)
    : std::runtime_error(sentence(library, call, words, file, line)) {}

void report_call(const std::string& library, const std::string& call, const std::string& words,
                 const char* file, int line) noexcept {
  try {
    std::fprintf(stderr, "%s\n", sentence(library, call, words, file, line).c_str());
  } catch (const std::exception&) {
    std::fputs("a library call failed, and memory to say which was short\n", stderr);
  }
}

}  // namespace weft
