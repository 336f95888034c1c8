// The main of every program: options, the environment record, every case in turn, outcomes and the exit
// status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/benchmark.hpp"
#include "core/team.hpp"

namespace weft {

struct Program {
  std::string name;  ///< "p2p": the prefix of its benchmarks in records
  std::string sentence;
  std::function<void(Options&)> declare;  ///< adds the program's own options to the common ones
  std::function<void(const Options&)>
      prepare;                     ///< after parsing, before the output is opened; may throw UsageError
  std::function<Json()> software;  ///< members of environment.software; may be empty
  std::function<Json()> geometry;  ///< environment.geometry; may be empty (null)
  std::function<std::vector<Json>(const Run&)>
      facts;  ///< records before the measurements (topology); may be empty
};

/// Runs a program and returns its exit status: 0, 1 (some case wrong or failed) or 2 (bad input, one sentence
/// on stderr, nothing left); the watchdog ends a hang with 3 (core/watchdog.hpp). A case that throws ends
/// itself: Unsupported -> unsupported, anything else -> failed. In a team every member runs the same cases
/// and the worst outcome counts, so that no member waits for one that gave up.
int run_program(const Program& program, int argc, char** argv, Team& team);

}  // namespace weft
