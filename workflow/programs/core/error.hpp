// The three ways a case or a program ends badly, and the checks that lead there.
#pragma once

#include <stdexcept>
#include <string>

namespace weft {

/// The user asked for something that cannot be: ends the program with one sentence and exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This machine or library cannot do what a case needs: the case's outcome is `unsupported`, with this
/// reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A library call failed: the case's outcome is `failed`. The message holds call, file, line and the
/// library's words.
class CallError : public std::runtime_error {
 public:
  CallError(const std::string& library, const std::string& call, const std::string& words, const char* file,
            int line);
};

/// For destructors: report the failed call on stderr and go on.
void report_call(const std::string& library, const std::string& call, const std::string& words,
                 const char* file, int line) noexcept;

}  // namespace weft
