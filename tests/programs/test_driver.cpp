// The driver with benchmarks of its own: outcomes, exit status, what is left, and agreement in a team.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "check.hpp"
#include "core/driver.hpp"
#include "core/error.hpp"
#include "core/link_traffic.hpp"

using weft::Axis;
using weft::Case;
using weft::Json;
using weft::Measurement;
using weft::Options;
using weft::Program;
using weft::Registered;
using weft::Run;
using weft::Team;
using weft::UsageError;

namespace {

namespace fs = std::filesystem;

Measurement timed(const Run& run) {
  Measurement measurement;
  measurement.time = weft::sample(
      run.sampling, [](std::size_t operations) { return 1e-4 * static_cast<double>(operations); }, run.team);
  measurement.timer = "host_clock";
  measurement.payload_bytes = 1000;
  return measurement;
}

Case one_case(const std::string& label, std::function<Measurement()> run) {
  Case result;
  result.identity = Json::object({{"size_bytes", 1000}});
  result.label = label;
  result.run = std::move(run);
  return result;
}

const Registered good{{"good", "measures well", {{"size_bytes", "B", "payload"}}, [](const Run& run) {
                         return std::vector<Case>{one_case("first", [&run] { return timed(run); }),
                                                  one_case("second", [&run] { return timed(run); })};
                       }}};
const Registered good_scaled{{"good_scaled", "half a ping-pong", {}, [](const Run& run) {
                                return std::vector<Case>{one_case("", [&run] {
                                  Measurement measurement = timed(run);
                                  measurement.time_scale = 0.5;
                                  return measurement;
                                })};
                              }}};
const Registered filtered{
    {"filtered", "cannot run", {}, [](const Run&) {
       Case result = one_case("", []() -> Measurement { throw std::logic_error("it was run"); });
       result.unsupported = [] { return std::optional<std::string>("no such hardware"); };
       return std::vector<Case>{result};
     }}};
const Registered refusing{{"refusing", "finds out late that it cannot run", {}, [](const Run&) {
                             return std::vector<Case>{one_case(
                                 "", []() -> Measurement { throw weft::Unsupported("the library cannot"); })};
                           }}};
const Registered broken{{"broken", "throws", {}, [](const Run&) {
                           return std::vector<Case>{
                               one_case("", []() -> Measurement { throw std::runtime_error("it broke"); })};
                         }}};
const Registered spoiled{{"spoiled", "verifies badly", {}, [](const Run& run) {
                            return std::vector<Case>{one_case("", [&run] {
                              Measurement measurement = timed(run);
                              measurement.wrong = 3;
                              return measurement;
                            })};
                          }}};
const Registered proven{{"proven", "moves bytes between devices", {}, [](const Run& run) {
                           Case result = one_case("", [&run] {
                             Measurement measurement = timed(run);
                             measurement.time_scale = 0.5;
                             return measurement;
                           });
                           result.devices = {0, 1};
                           return std::vector<Case>{result};
                         }}};

/// One run of the program `demo` in a folder of its own.
struct Demo {
  fs::path folder;
  Team alone;
  Team* team = &alone;
  Program program;

  Demo() {
    std::string name = (fs::temp_directory_path() / "weft-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder = name;
    program.name = "demo";
    program.sentence = "Shows the driver.";
  }
  ~Demo() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  int run(std::vector<std::string> words, bool quiet = true) {
    words.insert(words.begin(), {"demo", "--output", (folder / "records.jsonl").string()});
    if (quiet) words.push_back("--quiet");
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    return weft::run_program(program, static_cast<int>(arguments.size()), arguments.data(), *team);
  }

  std::vector<std::string> lines() const {
    std::ifstream file(folder / "records.jsonl");
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);)
      result.push_back(line);
    return result;
  }

  bool left_nothing() const { return fs::is_empty(folder); }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// This process's member of a team of two, whose other member says the same each time.
struct Pair : Team {
  bool leading = true;
  double others = 0;
  std::string others_words;
  bool leads() const override { return leading; }
  double maximum(double value) override { return std::max(value, others); }
  std::string words(const std::string& mine) override { return mine.empty() ? others_words : mine; }
};

}  // namespace

TEST(every_outcome_is_recorded_and_the_status_is_that_of_the_worst) {
  Demo demo;
  CHECK_EQ(demo.run({}), 1);
  const auto lines = demo.lines();
  CHECK_EQ(lines.size(), 10u);
  CHECK(contains(lines[0], "{\"record\":\"environment\",\"schema_version\":1,\"program\":\"demo\""));
  CHECK(contains(lines[1],
                 "{\"record\":\"measurement\",\"outcome\":\"measured\",\"benchmark\":\"demo.good\",\"size_"));
  CHECK(contains(lines[1], "\"bandwidth_bytes_per_s\":1e+07,\"wrong\":0"));
  CHECK(contains(
      lines[4],
      "\"outcome\":\"unsupported\",\"benchmark\":\"demo.filtered\",\"reason\":\"no such hardware\""));
  CHECK(contains(
      lines[5],
      "\"outcome\":\"unsupported\",\"benchmark\":\"demo.refusing\",\"reason\":\"the library cannot\""));
  CHECK(contains(lines[6], "\"outcome\":\"failed\",\"benchmark\":\"demo.broken\",\"reason\":\"it broke\""));
  CHECK(contains(lines[7], "\"outcome\":\"wrong\",\"benchmark\":\"demo.spoiled\""));
  CHECK(contains(lines[7], "\"wrong\":3") && contains(lines[7], "\"time_s\""));
  CHECK(contains(
      lines[9],
      "\"measurements\":8,\"outcomes\":{\"measured\":4,\"unsupported\":2,\"wrong\":1,\"failed\":1}"));
}

TEST(what_crossed_the_links_is_recorded_for_all_devices_of_the_team) {
  struct Two : Team {
    std::vector<std::string> everyones(const std::string& mine) override {
      return {mine, "", R"({"device":0,"pcie_received_bytes":7,"rank":2,"host":"n2"})"};
    }
    Json self() const override { return Json::object({{"rank", 0}, {"host", "n1"}}); }
  } two;
  weft::set_link_counters([](int) { return weft::LinkCounters{1024, {}, {}, {}}; });
  Demo demo;
  demo.team = &two;
  CHECK_EQ(demo.run({"--benchmarks", "proven"}), 0);
  weft::set_link_counters({});
  CHECK(contains(demo.lines()[1], R"("path_proof":{"operations":100,"payload_bytes":200000,"devices":[)"
                                  R"({"device":0,"nvlink_transmitted_bytes":0,"rank":0,"host":"n1"},)"
                                  R"({"device":1,"nvlink_transmitted_bytes":0,"rank":0,"host":"n1"},)"
                                  R"({"device":0,"pcie_received_bytes":7,"rank":2,"host":"n2"}]})"));
}

TEST(unsupported_cases_are_no_failure) {
  Demo demo;
  CHECK_EQ(demo.run({"--benchmarks", "good,filtered"}), 0);
  Demo only_wrong;
  CHECK_EQ(only_wrong.run({"--benchmarks", "spoiled"}), 1);
  Demo only_failed;
  CHECK_EQ(only_failed.run({"--benchmarks", "broken"}), 1);
}

TEST(scaled_times_give_the_bandwidth_of_one_way) {
  Demo demo;
  CHECK_EQ(demo.run({"--benchmarks", "good_scaled"}), 0);
  CHECK(contains(demo.lines()[1], "\"median\":5e-05"));
  CHECK(contains(demo.lines()[1], "\"bandwidth_bytes_per_s\":2e+07"));
}

TEST(benchmarks_are_chosen_by_key_or_beginning_or_record_name) {
  const auto chosen = [](const std::string& names) {
    Demo demo;
    demo.run({"--benchmarks", names});
    return demo.lines().size() - 2;
  };
  CHECK_EQ(chosen("good"), 2u);         // a key, though another begins with it
  CHECK_EQ(chosen("good_s"), 1u);       // a beginning
  CHECK_EQ(chosen("go"), 3u);           // of two
  CHECK_EQ(chosen("demo.good_s"), 1u);  // as records call it
  CHECK_EQ(chosen("good,go,filtered"), 4u);
  CHECK_EQ(chosen("all"), 8u);
}

TEST(bad_input_ends_with_two_and_leaves_nothing) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--benchmarks", "nonsense"},
                                             {"--benchmarks", ""},
                                             {"--sizzes", "4"},
                                             {"--precision", "0"},
                                             {"--confidence", "1"},
                                             {"--budget-s", "-1"},
                                             {"--min-samples", "0"},
                                             {"--min-samples", "30", "--max-samples", "20"},
                                             {"--repeat", "one"},
                                             {"--host-devices", "0"},
                                             {"--watchdog-s", "0.5"},
                                             {"--watchdog-s", "soon"},
                                             {"--expect-devices", "3", "--host-devices", "2"}}) {
    Demo demo;
    CHECK_EQ(demo.run(words), 2);
    CHECK(demo.left_nothing());
  }
}

TEST(bad_input_of_the_program_itself_leaves_nothing) {
  Demo demo;
  demo.program.declare = [](Options& options) { options.add("window", "N", "messages in flight", "64"); };
  demo.program.prepare = [](const Options& options) { options.integer("window", 1, 100); };
  CHECK_EQ(demo.run({"--window", "1000"}), 2);
  CHECK(demo.left_nothing());
}

TEST(facts_come_before_measurements_and_may_fail) {
  Demo demo;
  demo.program.facts = [](const Run&) { return std::vector<Json>{Json::object({{"record", "device"}})}; };
  CHECK_EQ(demo.run({"--benchmarks", "good"}), 0);
  CHECK_EQ(demo.lines()[1], std::string("{\"record\":\"device\"}"));
  Demo failing;
  failing.program.facts = [](const Run&) -> std::vector<Json> { throw std::runtime_error("nothing there"); };
  CHECK_EQ(failing.run({}), 1);
  CHECK(failing.left_nothing());
}

TEST(samples_are_kept_when_asked_for) {
  Demo demo;
  CHECK_EQ(
      demo.run({"--benchmarks", "good_scaled", "--max-samples", "3", "--min-samples", "2", "--keep-samples"}),
      0);
  CHECK(contains(demo.lines()[1], "\"values\":[5e-05,5e-05,5e-05]"));
}

TEST(the_environment_holds_identity_geometry_and_listed_variables_only) {
  ::setenv("WEFT_CONTAINER_DIGEST", "sha256:abc", 1);
  ::setenv("NCCL_DEBUG", "INFO", 1);
  ::setenv("NCCL_SECRET_TOKEN", "hidden", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "hidden", 1);
  ::setenv("OMPI_MCA_initial_wdir", "/hidden/folder", 1);
  ::setenv("OMPI_MCA_orte_precondition_transports", "hidden", 1);
  ::setenv("WEFT_CAMPAIGN_IN", "/hidden/folder", 1);
  ::setenv("WEFT_CONTAINER", "/hidden/folder/openmpi.sif", 1);
  ::setenv("SLURM_JOB_ID", "42", 1);
  Demo demo;
  demo.program.geometry = [] { return Json::object({{"ranks", 2}}); };
  demo.program.software = [] { return Json::object({{"mpi_standard", "3.1"}}); };
  CHECK_EQ(demo.run({"--benchmarks", "good", "--system", "here", "--repeat", "3"}), 0);
  const std::string environment = demo.lines()[0];
  CHECK(contains(environment, "\"system\":\"here\",\"campaign\":null,\"experiment\":null,\"repeat\":3,"));
  CHECK(contains(environment, "\"geometry\":{\"ranks\":2}"));
  CHECK(contains(environment, "\"mpi_standard\":\"3.1\""));
  CHECK(contains(environment, "\"container\":\"openmpi.sif\",\"container_digest\":\"sha256:abc\""));
  CHECK(contains(environment, "\"scheduler\":{\"kind\":\"slurm\""));
  CHECK(contains(environment, "\"NCCL_DEBUG\":\"INFO\""));
  CHECK(!contains(environment, "hidden"));
  CHECK(!contains(environment, "\"PATH\""));
}

TEST(an_image_that_the_launch_line_does_not_name_is_named_by_apptainer) {
  ::unsetenv("WEFT_CONTAINER");
  ::unsetenv("WEFT_CONTAINER_DIGEST");
  ::setenv("APPTAINER_CONTAINER", "/hidden/folder/site.sif", 1);
  Demo inside;
  CHECK_EQ(inside.run({"--benchmarks", "good"}), 0);
  CHECK(contains(inside.lines()[0], "\"container\":\"site.sif\",\"container_digest\":null"));
  ::unsetenv("APPTAINER_CONTAINER");
  Demo bare;
  CHECK_EQ(bare.run({"--benchmarks", "good"}), 0);
  CHECK(contains(bare.lines()[0], "\"container\":null,\"container_digest\":null"));
}

TEST(only_the_leader_writes) {
  Demo demo;
  Pair follower;
  follower.leading = false;
  demo.team = &follower;
  CHECK_EQ(demo.run({"--benchmarks", "good"}), 0);
  CHECK(demo.left_nothing());
}

TEST(what_another_member_cannot_do_is_unsupported_for_all_and_not_run) {
  struct OneCannot : Pair {
    int calls = 0;
    // Parsing, opening, seeing the file and facts go well; then the other member filters the first case.
    double maximum(double value) override { return ++calls == 5 ? 1 : value; }
  };
  Demo demo;
  OneCannot team;
  team.others_words = "no device there";
  demo.team = &team;
  CHECK_EQ(demo.run({"--benchmarks", "broken"}), 0);  // which would fail if it ran
  CHECK(contains(demo.lines()[1], "\"outcome\":\"unsupported\""));
  CHECK(contains(demo.lines()[1], "\"reason\":\"no device there\""));
}

TEST(bad_input_of_another_member_ends_all) {
  Demo demo;
  Pair team;
  team.others = 2;
  team.others_words = "only one device here";
  demo.team = &team;
  CHECK_EQ(demo.run({"--benchmarks", "good"}), 2);
  CHECK(demo.left_nothing());
}
