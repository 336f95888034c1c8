#include "core/driver.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>

#include "core/device.hpp"
#include "core/device_state.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/pattern.hpp"
#include "core/progress.hpp"
#include "core/record.hpp"
#include "weft_build.hpp"

namespace weft {

namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Options declared_options(const Program& program) {
  Options options(program.name, program.sentence);
  options.add("--output", "FILE", "record file to write, JSON Lines (required)", "");
  if (!registered_benchmarks().empty())
    options.add("--benchmarks", "LIST", "benchmarks to run, by key or its beginning", "all");
  if (program.declare) program.declare(options);
  options
      .add("--precision", "RATIO", "half width of the median's interval to reach, relative to the median",
           "0.02")
      .add("--confidence", "P", "confidence of that interval", "0.95")
      .add("--min-samples", "N", "samples of a measurement at least", "20")
      .add("--max-samples", "N", "samples of a measurement at most", "10000")
      .add("--budget-s", "SECONDS", "time of a measurement at most, warm-up included", "0.5")
      .flag("--keep-samples", "write the samples themselves too")
      .add("--repeat", "N", "which repeat of the job this is", "0")
      .add("--system", "NAME", "recorded as it stands", "")
      .add("--campaign", "NAME", "recorded as it stands", "")
      .add("--experiment", "NAME", "recorded as it stands", "")
      .add("--host-devices", "N", "host backend: number of devices", "")
      .flag("--inject-corruption", "flip a byte of every destination: verification must find it")
      .flag("--quiet", "no line per measurement")
      .flag("--list", "list the benchmarks and their axes")
      .flag("--version", "print the version")
      .flag("--help", "print this");
  return options;
}

SamplerOptions sampler_options(const Options& options) {
  SamplerOptions sampling;
  sampling.precision = options.number("--precision", 1e-6, 1);
  sampling.confidence = options.number("--confidence", 0.5, 0.9999);
  sampling.min_samples = options.integer("--min-samples", 1, 1000000);
  sampling.max_samples = options.integer("--max-samples", 1, 100000000);
  sampling.budget_s = options.number("--budget-s", 1e-6, 1e6);
  sampling.keep_samples = options.is_set("--keep-samples");
  if (sampling.max_samples < sampling.min_samples)
    throw UsageError("--max-samples is " + options.text("--max-samples") +
                     ", but must be at least --min-samples, " + options.text("--min-samples"));
  return sampling;
}

void print_list(const Program& program) {
  for (const Benchmark& benchmark : registered_benchmarks()) {
    std::cout << program.name << "." << benchmark.key << "\n    " << benchmark.sentence << "\n";
    for (const Axis& axis : benchmark.axes)
      std::cout << "      " << axis.name << (axis.unit.empty() ? "" : " (" + axis.unit + ")") << ": "
                << axis.description << "\n";
  }
}

/// The benchmarks that --benchmarks names, each once, in the order they were registered.
std::vector<const Benchmark*> chosen_benchmarks(const Options& options) {
  std::vector<const Benchmark*> chosen;
  if (registered_benchmarks().empty()) return chosen;
  const std::string names = options.text("--benchmarks");
  std::vector<std::string> beginnings;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    beginnings.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto meant = [](const std::string& beginning, const Benchmark& benchmark) {
    const bool exact = std::any_of(registered_benchmarks().begin(), registered_benchmarks().end(),
                                   [&](const Benchmark& other) { return other.key == beginning; });
    return beginning == "all" || benchmark.key == beginning ||
           (!exact && !beginning.empty() && benchmark.key.rfind(beginning, 0) == 0);
  };
  for (const std::string& beginning : beginnings) {
    if (std::any_of(registered_benchmarks().begin(), registered_benchmarks().end(),
                    [&](const Benchmark& benchmark) { return meant(beginning, benchmark); }))
      continue;
    std::string known;
    for (const Benchmark& benchmark : registered_benchmarks())
      known += (known.empty() ? "" : ", ") + benchmark.key;
    throw UsageError("--benchmarks names \"" + beginning + "\", but " + options.program() + " has " + known);
  }
  for (const Benchmark& benchmark : registered_benchmarks())
    if (std::any_of(beginnings.begin(), beginnings.end(),
                    [&](const std::string& beginning) { return meant(beginning, benchmark); }))
      chosen.push_back(&benchmark);
  return chosen;
}

/// The cases of a program, run one after the other; the leader writes the records.
class Session {
 public:
  Session(const Program& program, const Run& run, RecordWriter* writer)
      : program_(program), run_(run), writer_(writer) {}

  void run_case(const Benchmark& benchmark, const Case& one) {
    const std::string key = program_.name + "." + benchmark.key;
    Json record = Json::object({{"record", "measurement"}, {"outcome", Json()}, {"benchmark", key}});
    record.merge(one.identity);
    std::unique_ptr<Measurement> measurement;
    std::string reason;
    Outcome outcome = attempt(one, record, measurement, reason);
    if (outcome != Outcome::measured && reason.empty())
      reason = "another rank could not do it; its words are in the log";
    record.set("outcome", to_string(outcome));
    if (outcome != Outcome::measured) record.set("reason", reason);
    ++outcomes_[outcome];
    if (!run_.team.leads()) return;
    const bool complete = measurement && (outcome == Outcome::measured || outcome == Outcome::wrong);
    writer_->write(record);
    if (!run_.options.is_set("--quiet"))
      std::cerr << progress_line(key, one, outcome, reason, complete ? measurement.get() : nullptr)
                << std::endl;
  }

  const std::map<Outcome, std::size_t>& outcomes() const { return outcomes_; }
  int exit_status() const {
    return outcomes_.count(Outcome::wrong) + outcomes_.count(Outcome::failed) == 0 ? 0 : 1;
  }

 private:
  /// The worst outcome of any member, so that all go on alike.
  Outcome agreed(Outcome outcome, const std::string& reason) {
    const auto worst =
        static_cast<Outcome>(static_cast<int>(run_.team.maximum(static_cast<double>(outcome))));
    if (!run_.team.leads() && outcome == worst && !reason.empty()) std::cerr << reason << std::endl;
    return worst;
  }

  Outcome attempt(const Case& one, Json& record, std::unique_ptr<Measurement>& measurement,
                  std::string& reason) {
    Outcome outcome = Outcome::measured;
    guarded(outcome, reason, [&] {
      const std::optional<std::string> why = one.unsupported ? one.unsupported() : std::nullopt;
      if (why) throw Unsupported(*why);
    });
    outcome = agreed(outcome, reason);
    if (outcome != Outcome::measured) return outcome;
    double wrong = 0;
    guarded(outcome, reason, [&] {
      const DeviceStates states(one.devices);
      measurement = std::make_unique<Measurement>(one.run());
      describe(*measurement, states, record);
      wrong = static_cast<double>(measurement->wrong);
    });
    // Nobody may sum while another member has left the case.
    outcome = agreed(outcome, reason);
    if (outcome != Outcome::measured) return outcome;
    wrong = run_.team.sum(wrong);
    record.set("wrong", static_cast<std::uint64_t>(wrong));
    if (wrong == 0) return outcome;
    reason = "verification found " + std::to_string(static_cast<std::uint64_t>(wrong)) +
             " wrong bytes or elements";
    return Outcome::wrong;
  }

  template <class Action>
  static void guarded(Outcome& outcome, std::string& reason, Action action) {
    try {
      action();
    } catch (const Unsupported& exception) {
      outcome = Outcome::unsupported;
      reason = exception.what();
    } catch (const std::exception& exception) {
      outcome = Outcome::failed;
      reason = exception.what();
    }
  }

  void describe(const Measurement& measurement, const DeviceStates& states, Json& record) const {
    const TimeSummary& time = measurement.time;
    record.set("time_s", time.json(run_.sampling.keep_samples, measurement.time_scale))
        .set("timer", measurement.timer);
    if (measurement.payload_bytes) {
      record.set("bandwidth_bytes_per_s",
                 *measurement.payload_bytes / (time.median_s * measurement.time_scale));
      // A ping-pong moves its payload once each way, and its time is scaled to one way.
      record.set(
          "payload_bytes_moved",
          static_cast<std::uint64_t>(*measurement.payload_bytes * static_cast<double>(time.operations_total) /
                                     measurement.time_scale));
    }
    record.set("device_states", states.json());
    record.merge(measurement.extra);
  }

  const Program& program_;
  const Run& run_;
  RecordWriter* writer_;
  std::map<Outcome, std::size_t> outcomes_;
};

struct Work {
  const Benchmark* benchmark;
  std::vector<Case> cases;
};

int run_parsed(const Program& program, const Options& options, const std::vector<std::string>& command_line,
               Team& team) {
  const double start_s = seconds_now();
  std::vector<Work> work;
  std::unique_ptr<RecordWriter> writer;
  std::string refusal;
  std::unique_ptr<Run> run;
  try {
    if (options.given("--host-devices"))
      set_host_devices(static_cast<int>(options.integer("--host-devices", 1, 1024)));
    inject_corruption(options.is_set("--inject-corruption"));
    run.reset(new Run{options, sampler_options(options), team});
    if (options.text("--output").empty())
      throw UsageError(options.program() +
                       ": --output is missing; name the record file to write: --output FILE");
    const std::vector<const Benchmark*> chosen = chosen_benchmarks(options);
    if (program.prepare) program.prepare(options);
    for (const Benchmark* benchmark : chosen)
      work.push_back({benchmark, benchmark->cases(*run)});
    if (team.leads()) writer = std::make_unique<RecordWriter>(options.text("--output"));
  } catch (const UsageError& exception) {
    refusal = exception.what();
  }
  if (team.maximum(refusal.empty() ? 0 : 1) > 0) {
    // Mostly all members refuse in the same words, and the leader's will do.
    const bool leader_refuses = team.leaders(refusal.empty() ? 0 : 1) > 0;
    if (!refusal.empty() && (team.leads() || !leader_refuses)) std::cerr << refusal << std::endl;
    return 2;
  }
  const Json software = program.software ? program.software() : Json::object();
  const Json geometry = program.geometry ? program.geometry() : Json();
  const Json environment = environment_record(options, command_line, software, geometry);
  const std::vector<Json> facts = program.facts ? program.facts(*run) : std::vector<Json>{};
  Session session(program, *run, writer.get());
  if (writer) {
    writer->write(environment);
    for (const Json& fact : facts)
      writer->write(fact);
  }
  for (const Work& part : work)
    for (const Case& one : part.cases)
      session.run_case(*part.benchmark, one);
  if (writer) writer->finish(session.outcomes(), seconds_now() - start_s);
  return session.exit_status();
}

}  // namespace

int run_program(const Program& program, int argc, char** argv, Team& team) {
  Options options = declared_options(program);
  try {
    options.parse(argc, argv);
    if (options.is_set("--help") || options.is_set("--list") || options.is_set("--version")) {
      if (!team.leads()) return 0;
      if (options.is_set("--help"))
        std::cout << options.help();
      else if (options.is_set("--list"))
        print_list(program);
      else
        std::cout << "weft " << program.name << " " << WEFT_VERSION << " (" << to_string(backend()) << ")\n";
      return 0;
    }
    return run_parsed(program, options, std::vector<std::string>(argv, argv + argc), team);
  } catch (const UsageError& exception) {
    if (team.leads()) std::cerr << exception.what() << std::endl;
    return 2;
  } catch (const std::exception& exception) {
    std::cerr << program.name << ": " << exception.what() << std::endl;
    return 1;
  }
}

}  // namespace weft
