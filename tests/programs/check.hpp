// A small test framework: no C++ one is published as a package that the locked environment could bring.
//
//   TEST(median_of_even_count_is_the_lower) { CHECK_EQ(median({1, 2, 3, 4}), 2); }
//
// A failed check ends its test, not the run. The program takes --list, or the names of the tests to run; it
// prints a line a test and exits with 1 when one failed, with 2 when a name is unknown.
#pragma once

#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registrar {
  Registrar(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What this machine has too little of for a test.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void need_devices(int needed, int there_are) {
  if (there_are < needed)
    throw Skipped("needs " + std::to_string(needed) + " devices, there are " + std::to_string(there_are));
}

[[noreturn]] inline void fail(const char* file, int line, const std::string& message) {
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + message);
}

template <class Left, class Right>
void equal(const Left& left, const Right& right, const char* expression, const char* file, int line) {
  if (left == right) return;
  std::ostringstream message;
  message.precision(17);
  message << expression << ": " << left << " is not " << right;
  fail(file, line, message.str());
}

/// Runs what is to throw and returns the message of the exception, so that it can be checked too.
template <class Exception, class Action>
std::string thrown(Action action, const char* expression, const char* type, const char* file, int line) {
  try {
    action();
  } catch (const Exception& exception) {
    return exception.what();
  }
  fail(file, line, std::string(expression) + " did not throw " + type);
}

inline bool succeeds(const Test& test) {
  try {
    test.run();
    std::cout << "ok " << test.name << std::endl;
    return true;
  } catch (const Skipped& reason) {
    std::cout << "skipped " << test.name << ": " << reason.what() << std::endl;
    return true;
  } catch (const std::exception& exception) {
    std::cout << "FAILED " << test.name << ": " << exception.what() << std::endl;
    return false;
  }
}

inline int run(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  if (names == std::vector<std::string>{"--list"}) {
    for (const Test& test : tests())
      std::cout << test.name << "\n";
    return 0;
  }
  std::vector<Test> chosen = names.empty() ? tests() : std::vector<Test>{};
  for (const std::string& name : names) {
    const std::size_t before = chosen.size();
    for (const Test& test : tests())
      if (name == test.name) chosen.push_back(test);
    if (chosen.size() == before) {
      std::cerr << "no test is called " << name << "; --list names them\n";
      return 2;
    }
  }
  int failed = 0;
  for (const Test& test : chosen)
    failed += succeeds(test) ? 0 : 1;
  return failed == 0 ? 0 : 1;
}

}  // namespace check

#define TEST(name)                                                                                           \
  static void test_##name();                                                                                 \
  static const check::Registrar registrar_##name{#name, test_##name};                                        \
  static void test_##name()

#define CHECK(...)                                                                                           \
  do {                                                                                                       \
    if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, "not true: " #__VA_ARGS__);                          \
  } while (false)

#define CHECK_EQ(left, right) check::equal((left), (right), #left " == " #right, __FILE__, __LINE__)

#define CHECK_THROWS(expression, type)                                                                       \
  check::thrown<type>([&] { (void)(expression); }, #expression, #type, __FILE__, __LINE__)

// A file that needs something before its tests, such as MPI_Init, defines CHECK_OWN_MAIN, and its own main.
#ifndef CHECK_OWN_MAIN
int main(int argc, char** argv) { return check::run(argc, argv); }
#endif
