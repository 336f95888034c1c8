// Ends a run in which nothing goes on any more: a rank that never answers, a copy that never ends.
//
// A thread looks several times within the limit whether something went on during what the main thread does.
// It counts its own looks instead of seconds, so that a job that was suspended as a whole is not taken for
// hung, and calls MPI only to end the run.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// Exit status of a run that the watchdog ended.
constexpr int status_hung = 3;

/// How long an activity may go on without a sign of progress.
enum class Patience {
  step,         ///< the limit
  measurement,  ///< of a rank that is idle while others measure: ten steps near the limit, and their budget
};

/// While it lives, this is what the process does: the watchdog tells of it, and waits anew from its beginning
/// and from its end. Activities nest, and are the main thread's.
class Activity {
 public:
  /// `with`: the ranks that must all take part, this one among them; empty: as the activity around it, and
  /// all ranks at the outermost. Words may be empty.
  explicit Activity(std::string words, std::vector<int> with = {}, Patience patience = Patience::step);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// Seconds that went into activities so far, by their words; of each without what went on within it.
  static std::map<std::string, double> times_s();
};

namespace watchdog {

constexpr double default_limit_s = 120;

/// Begins to watch; 0 never ends anything. May be called again with another limit.
void start(const std::string& program, double limit_s);
/// --watchdog-s of a command line that is not parsed yet; the default where it is not given, or no number.
double limit_s_of(int argc, const char* const* argv);
/// Something went on. Costs nanoseconds.
void beat() noexcept;

/// Of one measurement: see Patience.
void set_budget(double budget_s);
/// The process is one of several, of which it knows no other yet.
void set_self(const std::string& words);
/// All of them, by rank.
void set_members(std::vector<std::string> words, int self);
/// What ends all processes of the run; empty: each ends itself.
void set_end(std::function<void(int status)> end_all);
/// Where ranks that are stuck leave a notice (core/hang.hpp); empty: nowhere.
void set_notices(std::filesystem::path folder);
/// The status to end with from now on: a run whose result is complete may still hang in leaving.
void set_status(int status);

}  // namespace watchdog

}  // namespace weft
