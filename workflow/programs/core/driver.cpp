#include "core/driver.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>

#include "core/common_options.hpp"
#include "core/device.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/execution.hpp"
#include "core/hang.hpp"
#include "core/pattern.hpp"
#include "core/progress.hpp"
#include "core/record.hpp"
#include "core/selection.hpp"
#include "core/watchdog.hpp"

namespace weft {

namespace {

enum Status { fine = 0, some_failed = 1, bad_input = 2 };  // and status_hung

/// --help, --list and --version: whether one was asked for, and then answered by the leader.
bool answered(const Program& program, const Options& options, const Team& team) {
  std::string text;
  if (options.is_set("help"))
    text = options.help();
  else if (options.is_set("list"))
    text = list_benchmarks(program.name);
  else if (options.is_set("version"))
    text = program.name + " " + build_words() + "\n";
  if (!text.empty() && team.leads()) std::fputs(text.c_str(), stdout);
  return !text.empty();
}

/// The worst status of the team; the sentence of the first member that has one is printed once.
int agree(const Program& program, Team& team, int status, const std::string& sentence) {
  const int worst = static_cast<int>(team.maximum(status));
  const std::string words = worst == fine ? "" : team.words(status == worst ? sentence : "");
  if (worst != fine && team.leads()) std::fprintf(stderr, "%s: %s\n", program.name.c_str(), words.c_str());
  return worst;
}

/// Runs a step on every member and returns the worst status. A step must not communicate.
template <class Step>
int together(const Program& program, Team& team, Step step) {
  int status = fine;
  std::string sentence;
  try {
    step();
  } catch (const UsageError& error) {
    status = bad_input;
    sentence = error.what();
  } catch (const std::exception& error) {
    status = some_failed;
    sentence = error.what();
  }
  return agree(program, team, status, sentence);
}

/// What the time went into so far: the activities, and as `other` what cases did beside.
std::map<std::string, double> phases_s(const std::vector<std::string>& cases) {
  std::map<std::string, double> phases = Activity::times_s();
  double other_s = 0;
  for (const std::string& name : cases)
    if (const auto time = phases.extract(name)) other_s += time.mapped();
  if (!cases.empty()) phases["other"] = other_s;
  return phases;
}

/// One run of a program, from its options to its end record.
class Driver {
 public:
  Driver(const Program& program, int argc, char** argv, Team& team)
      : program_(program), command_line_(argv, argv + argc), team_(team),
        options_(program.name, program.sentence) {
    declare_common(options_);
    if (program.declare) program.declare(options_);
  }

  int run() {
    if (const auto status = set_up()) return *status;
    return measure();
  }

 private:
  /// The status where the run ends here.
  std::optional<int> set_up() {
    const Activity activity("setting up");
    bool done = false;
    int status = together(program_, team_, [&] {
      std::vector<const char*> words;
      for (const std::string& word : command_line_)
        words.push_back(word.c_str());
      options_.parse(static_cast<int>(words.size()), words.data());
      done = answered(program_, options_, team_);
      if (!done) prepare();
    });
    if (status != fine || done) return status;
    status = together(program_, team_, [&] { open(); });
    if (status != fine) return status;
    share_notices();
    return std::nullopt;
  }

  void prepare();
  void open();
  void share_notices();
  int measure();
  std::string summary() const;

  const Program& program_;
  std::vector<std::string> command_line_;
  Team& team_;
  Options options_;
  std::unique_ptr<Run> run_;
  std::vector<Execution> executions_;
  std::unique_ptr<RecordWriter> writer_;
  std::map<Outcome, std::size_t> outcomes_;
};

void Driver::prepare() {
  options_.text("output");
  if (options_.given("host-devices"))
    set_host_devices(static_cast<int>(options_.integer("host-devices", 1, 1024)));
  inject_corruption(options_.is_set("inject-corruption"));
  watchdog::start(program_.name, watchdog_limit_s(options_));
  check_devices(options_);
  run_ = std::make_unique<Run>(Run{options_, sampler_options(options_), team_});
  watchdog::set_budget(run_->sampling.budget_s);
  options_.integer("repeat", 0, 1'000'000);
  std::vector<const Benchmark*> benchmarks;
  if (!registered_benchmarks().empty()) benchmarks = selected_benchmarks(options_);
  if (program_.prepare) program_.prepare(options_);
  for (const Benchmark* benchmark : benchmarks)
    for (Case& each : benchmark->cases(*run_))
      executions_.push_back({program_.name + "." + benchmark->key, std::move(each)});
}

void Driver::open() {
  const Json software = program_.software ? program_.software() : Json::object();
  const Json geometry = program_.geometry ? program_.geometry() : Json();
  if (!team_.leads()) return;
  writer_ = std::make_unique<RecordWriter>(options_.text("output"));
  writer_->write(environment_record(options_, command_line_, software, geometry));
}

/// Stuck ranks tell each other beside the output, where that is one folder for all of them.
void Driver::share_notices() {
  const std::string output = options_.text("output");
  const Notices notices(output + ".hung");
  if (team_.leads()) notices.clear();
  const bool seen = std::filesystem::exists(RecordWriter::partial_of(output));
  if (team_.maximum(seen ? 0 : 1) == 0) watchdog::set_notices(output + ".hung");
}

int Driver::measure() {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Json> facts;
  int status = together(program_, team_, [&] {
    const Activity activity("facts");
    if (program_.facts) facts = program_.facts(*run_);
    for (const Json& fact : facts)
      if (writer_) writer_->write(fact);
  });
  if (status != fine) return status;

  std::vector<std::string> names;
  for (const Execution& execution : executions_)
    names.push_back(execution.name());
  Progress progress(options_.is_set("quiet") || !team_.leads(), names);
  for (Execution& execution : executions_) {
    const Activity activity(execution.name());
    const Result result = execution.run(*run_);
    ++outcomes_[result.outcome];
    status = together(program_, team_, [&] {
      if (writer_) writer_->write(result.record);
    });
    if (status != fine) return status;
    if (result.measurement && result.outcome == Outcome::measured)
      progress.measured(execution.name(), *result.measurement);
    else
      progress.ended(execution.name(), result.outcome, result.reason);
  }

  const std::chrono::duration<double> wall_time = std::chrono::steady_clock::now() - start;
  status = together(program_, team_, [&] {
    if (writer_) writer_->finish(outcomes_, wall_time.count(), phases_s(names));
  });
  if (status != fine) return status;
  progress.finished(program_.name, summary());
  status = outcomes_[Outcome::wrong] + outcomes_[Outcome::failed] == 0 ? fine : some_failed;
  watchdog::set_status(status);
  return status;
}

std::string Driver::summary() const {
  std::string text;
  for (const auto& [outcome, count] : outcomes_)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + to_string(outcome);
  return (text.empty() ? "done" : text) + " -> " + options_.text("output");
}

}  // namespace

int run_program(const Program& program, int argc, char** argv, Team& team) {
  try {
    return Driver(program, argc, argv, team).run();
  } catch (const std::exception& error) {  // the team itself can no longer agree
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return some_failed;
  }
}

}  // namespace weft
