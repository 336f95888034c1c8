#include "core/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>
#include <unistd.h>

#include "core/environment.hpp"
#include "core/hang.hpp"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int looks_within_limit = 20;
constexpr double longest_between_looks_s = 0.5;
constexpr double steps_of_a_measurement = 10;
constexpr Seconds before_exit{5};  ///< in which MPI may end all ranks

struct Entry {
  std::string words;
  std::vector<int> with;
  Patience patience;
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false;
  double budget_s = 0;
  std::filesystem::path notices;
  std::function<void(int)> end_all;
  int status = status_hung, self = 0;
  std::vector<Entry> activities;
  std::map<std::string, double> times_s;
  Clock::time_point since;  ///< when the innermost activity began or went on
  Hang hang;                ///< all but activity, with and waiting

  State() {
    hang.alone = true;
    hang.self = hostname();
  }
  bool watches() const { return hang.limit_s > 0 && !activities.empty(); }

  /// Adds the time that has passed to the innermost activity that has words.
  void account() {
    const auto now = Clock::now();
    const auto named = std::find_if(activities.rbegin(), activities.rend(),
                                    [](const Entry& entry) { return !entry.words.empty(); });
    if (named != activities.rend()) times_s[named->words] += Seconds(now - since).count();
    since = now;
  }
};

/// Never destroyed: the thread looks at it until the process ends.
State& state() {
  static State* const only = new State;
  return *only;
}

std::atomic<unsigned long> beats{0};

double patience_s(const State& now) {
  if (now.activities.back().patience == Patience::step) return now.hang.limit_s;
  return steps_of_a_measurement * now.hang.limit_s + 2 * now.budget_s;
}

/// With all that is being done, from the outermost.
Hang describe(const State& now) {
  Hang hang = now.hang;
  for (const Entry& entry : now.activities) {
    if (!entry.words.empty()) hang.activity += (hang.activity.empty() ? "" : ", ") + entry.words;
    if (!entry.with.empty()) hang.with = entry.with;
  }
  if (hang.with.empty()) {
    hang.with.resize(hang.members.size());
    std::iota(hang.with.begin(), hang.with.end(), 0);
  }
  return hang;
}

[[noreturn]] void end_run(int status, const std::function<void(int)>& end_all) {
  std::thread([status] {
    std::this_thread::sleep_for(before_exit);
    ::_exit(status);
  }).detach();
  if (end_all) end_all(status);
  ::_exit(status);
}

/// Tells of the hang, unless a rank before this one does, and ends the run.
[[noreturn]] void bark(std::unique_lock<std::mutex> lock) {
  State& now = state();
  Hang hang = describe(now);
  const Notices notices(now.notices);
  const bool share = !now.notices.empty() && hang.members.size() > 1;
  const int self = now.self, status = now.status;
  const auto end_all = now.end_all;
  lock.unlock();
  const Seconds moment(std::clamp(hang.limit_s / 10, 0.5, 5.0));
  bool tells = true;
  if (share && notices.leave(self)) {
    std::this_thread::sleep_for(moment);
    hang.waiting = notices.read();
    // The first one tells, and then clears all notices.
    tells = !hang.waiting->empty() && *hang.waiting->begin() == self;
  }
  if (tells) {
    std::fprintf(stderr, "%s\n", hang_sentence(hang).c_str());
    if (share) notices.clear();
  } else {
    std::this_thread::sleep_for(moment);  // for the one that tells
  }
  end_run(status, end_all);
}

void keep_watch() {
  State& now = state();
  std::unique_lock lock(now.mutex);
  unsigned long seen = 0;
  for (double waited_s = 0;;) {
    if (!now.watches()) {
      now.changed.wait(lock, [&] { return now.watches(); });
      waited_s = 0;
    }
    const double tick_s = std::min(now.hang.limit_s / looks_within_limit, longest_between_looks_s);
    now.changed.wait_for(lock, Seconds(tick_s));
    const unsigned long latest = beats.load(std::memory_order_relaxed);
    waited_s = latest == seen ? waited_s + tick_s : 0;
    seen = latest;
    if (now.watches() && waited_s >= patience_s(now)) bark(std::move(lock));
  }
}

}  // namespace

Activity::Activity(std::string words, std::vector<int> with, Patience patience) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.account();
  now.activities.push_back({std::move(words), std::move(with), patience});
  watchdog::beat();
  if (now.activities.size() == 1) now.changed.notify_all();
}

Activity::~Activity() {
  const std::lock_guard lock(state().mutex);
  state().account();
  state().activities.pop_back();
  watchdog::beat();
}

std::map<std::string, double> Activity::times_s() {
  const std::lock_guard lock(state().mutex);
  return state().times_s;
}

namespace watchdog {

void start(const std::string& program, double limit_s) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.hang.program = program;
  now.hang.limit_s = limit_s;
  now.status = status_hung;
  if (!now.started && limit_s > 0) std::thread(keep_watch).detach();
  now.started = now.started || limit_s > 0;
  beat();
  now.changed.notify_all();
}

double limit_s_of(int argc, const char* const* argv) {
  constexpr std::string_view name = "--watchdog-s";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* value = nullptr;
    if (word == name && i + 1 < argc) value = argv[i + 1];
    if (word.size() > name.size() && word.substr(0, name.size()) == name && word[name.size()] == '=')
      value = argv[i] + name.size() + 1;
    if (!value) continue;
    char* end = nullptr;
    const double limit_s = std::strtod(value, &end);
    if (end != value && *end == '\0' && limit_s >= 0) return limit_s;
  }
  return default_limit_s;
}

void beat() noexcept { beats.fetch_add(1, std::memory_order_relaxed); }

void set_budget(double budget_s) {
  const std::lock_guard lock(state().mutex);
  state().budget_s = budget_s;
}

void set_self(const std::string& words) {
  const std::lock_guard lock(state().mutex);
  state().hang.alone = false;
  state().hang.self = words;
}

void set_members(std::vector<std::string> words, int self) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  now.self = self;
  now.hang.alone = words.size() == 1;
  now.hang.self = words[static_cast<std::size_t>(self)];
  now.hang.members = std::move(words);
}

void set_end(std::function<void(int status)> end_all) {
  const std::lock_guard lock(state().mutex);
  state().end_all = std::move(end_all);
}

void set_notices(std::filesystem::path folder) {
  const std::lock_guard lock(state().mutex);
  state().notices = std::move(folder);
}

void set_status(int status) {
  const std::lock_guard lock(state().mutex);
  state().status = status;
}

}  // namespace watchdog

}  // namespace weft
