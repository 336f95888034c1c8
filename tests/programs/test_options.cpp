#include "check.hpp"
#include "core/error.hpp"
#include "core/options.hpp"

using weft::Options;
using weft::UsageError;

namespace {

/// The options of a program `demo`, called with `words`.
Options parsed(const std::vector<std::string>& words) {
  Options options("demo", "Shows options.");
  options.add("output", "FILE", "where records go", "").add("size", "SIZES", "bytes", "4,64KiB");
  options.add("count", "N", "how many", "3")
      .add("ratio", "R", "a share", "0.5")
      .add("engine", "NAME", "what copies", "kernel");
  options.add("access", "LIST", "on, off", "on,off")
      .add("pairs", "PAIRS", "who", "all")
      .add("devices", "LIST", "which", "all");
  options.flag("quiet", "say nothing");
  std::vector<const char*> arguments{"demo"};
  for (const std::string& word : words)
    arguments.push_back(word.c_str());
  options.parse(static_cast<int>(arguments.size()), arguments.data());
  return options;
}

Options with_size(const std::string& size) { return parsed({"--size", size}); }

std::string listed(const std::vector<std::uint64_t>& values) {
  std::string text;
  for (const auto value : values)
    text += std::to_string(value) + " ";
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(options_are_given_in_two_forms_and_default_otherwise) {
  const Options options = parsed({"--output", "a.jsonl", "--count=7", "--quiet"});
  CHECK_EQ(options.text("output"), std::string("a.jsonl"));
  CHECK_EQ(options.integer("count", 0, 10), 7u);
  CHECK_EQ(options.number("ratio", 0, 1), 0.5);
  CHECK(options.is_set("quiet"));
  CHECK(options.given("count"));
  CHECK(!options.given("ratio"));
  CHECK_EQ(parsed({"--output=x=y"}).text("output"), std::string("x=y"));
}

TEST(a_missing_option_is_refused_when_read) {
  const std::string words = CHECK_THROWS(parsed({}).text("output"), UsageError);
  CHECK_EQ(words, std::string("--output FILE is missing: where records go."));
}

TEST(an_unknown_option_is_refused_with_the_nearest_known_one) {
  CHECK_EQ(CHECK_THROWS(parsed({"--ouput", "x"}), UsageError),
           std::string("--ouput is not an option of demo; did you mean --output?"));
  CHECK_EQ(CHECK_THROWS(parsed({"--zzzzzzzz"}), UsageError),
           std::string("--zzzzzzzz is not an option of demo; see --help."));
}

TEST(malformed_arguments_are_refused) {
  CHECK(contains(CHECK_THROWS(parsed({"output"}), UsageError), "\"output\" is not an option"));
  CHECK(contains(CHECK_THROWS(parsed({"--count"}), UsageError), "--count lacks its value, N"));
  CHECK(contains(CHECK_THROWS(parsed({"--quiet=yes"}), UsageError), "--quiet takes no value"));
  CHECK(
      contains(CHECK_THROWS(parsed({"--count", "1", "--count", "2"}), UsageError), "--count is given twice"));
  CHECK(contains(CHECK_THROWS(parsed({"--output="}).text("output"), UsageError), "the value is empty"));
}

TEST(an_option_that_was_never_declared_is_a_mistake_of_the_program) {
  CHECK_THROWS(parsed({}).text("nonsense"), std::logic_error);
}

TEST(numbers_are_checked) {
  CHECK_EQ(CHECK_THROWS(parsed({"--count", "1.5"}).integer("count", 0, 10), UsageError),
           std::string("--count 1.5: give a whole number from 0 to 10."));
  for (const char* wrong : {"-1", "11", "3x", " 3", "0x3"})
    CHECK_THROWS(parsed({"--count", wrong}).integer("count", 0, 10), UsageError);
  CHECK_EQ(CHECK_THROWS(parsed({"--ratio", "2"}).number("ratio", 0, 1), UsageError),
           std::string("--ratio 2: give a number from 0 to 1."));
  for (const char* wrong : {"nan", "inf", "half", "0.5 "})
    CHECK_THROWS(parsed({"--ratio", wrong}).number("ratio", 0, 1), UsageError);
}

TEST(choices_are_checked) {
  CHECK_EQ(parsed({}).choice("engine", {"copy_engine", "kernel"}), std::string("kernel"));
  CHECK_EQ(CHECK_THROWS(parsed({"--engine", "dma"}).choice("engine", {"copy_engine", "kernel"}), UsageError),
           std::string("--engine dma: give one of copy_engine, kernel."));
  const auto several =
      parsed({"--engine", "kernel,copy_engine"}).choices("engine", {"copy_engine", "kernel"});
  CHECK_EQ(several.size(), 2u);
  CHECK_EQ(several[0], std::string("kernel"));
  CHECK(contains(
      CHECK_THROWS(parsed({"--engine", "kernal"}).choices("engine", {"copy_engine", "kernel"}), UsageError),
      "did you mean kernel?"));
  CHECK(
      contains(CHECK_THROWS(parsed({"--engine", "kernel,kernel"}).choices("engine", {"kernel"}), UsageError),
               "named twice"));
  CHECK_THROWS(parsed({"--engine", "kernel,"}).choices("engine", {"kernel"}), UsageError);
}

TEST(switches_are_on_off_or_both) {
  CHECK_EQ(parsed({}).switches("access").size(), 2u);
  const auto off = parsed({"--access", "off"}).switches("access");
  CHECK(off.size() == 1 && !off[0]);
  CHECK_THROWS(parsed({"--access", "yes"}).switches("access"), UsageError);
}

TEST(sizes_are_lists_suffixes_and_ranges) {
  CHECK_EQ(listed(parsed({}).sizes("size")), std::string("4 65536 "));
  CHECK_EQ(listed(with_size("1GiB,3MiB,7").sizes("size")), std::string("1073741824 3145728 7 "));
  CHECK_EQ(listed(with_size("4:1KiB:x4").sizes("size")), std::string("4 16 64 256 1024 "));
  CHECK_EQ(listed(with_size("4:1000:x4").sizes("size")), std::string("4 16 64 256 "));
  CHECK_EQ(listed(with_size("8:8:x2").sizes("size")), std::string("8 "));
  CHECK_EQ(listed(with_size("4:64:x4,16,1KiB").sizes("size")), std::string("4 16 64 1024 "));
}

TEST(sizes_that_make_no_sense_are_refused) {
  CHECK(contains(CHECK_THROWS(with_size("0").sizes("size"), UsageError), "0 bytes moves nothing"));
  CHECK(contains(CHECK_THROWS(with_size("64KB").sizes("size"), UsageError), "\"64KB\" is no size"));
  CHECK(contains(CHECK_THROWS(with_size("10").sizes("size", 4), UsageError),
                 "10 is not a multiple of the element, 4 bytes"));
  CHECK(contains(CHECK_THROWS(with_size("64:4:x2").sizes("size"), UsageError), "begins above its end"));
  for (const char* wrong :
       {"", "-4", "KiB", "1.5MiB", "4:64", "4:64:4", "4:64:x1", "4:64:x", "9999999999GiB", "4,,8"})
    CHECK_THROWS(with_size(wrong).sizes("size"), UsageError);
}

TEST(indices_are_all_or_named) {
  CHECK_EQ(parsed({}).indices("devices", 3, "devices").size(), 3u);
  const auto two = parsed({"--devices", "2,0"}).indices("devices", 3, "devices");
  CHECK(two == std::vector<int>({2, 0}));
  CHECK_EQ(CHECK_THROWS(parsed({"--devices", "3"}).indices("devices", 3, "devices"), UsageError),
           std::string("--devices 3: there is no 3, the devices here are 0 to 2."));
  for (const char* wrong : {"0,0", "a", "-1", "0,", "99999999999999999999"})
    CHECK_THROWS(parsed({"--devices", wrong}).indices("devices", 3, "devices"), UsageError);
}

TEST(pairs_are_all_or_named) {
  CHECK_EQ(parsed({}).pairs("pairs", 4, "ranks").size(), 12u);
  const auto two = parsed({"--pairs", "0:1,2:0"}).pairs("pairs", 3, "ranks");
  CHECK(two.size() == 2 && two[1] == std::pair<int, int>(2, 0));
  CHECK(contains(CHECK_THROWS(parsed({"--pairs", "1:1"}).pairs("pairs", 3, "ranks"), UsageError),
                 "two different ranks"));
  CHECK(contains(CHECK_THROWS(parsed({"--pairs", "0:3"}).pairs("pairs", 3, "ranks"), UsageError),
                 "there is no 3"));
  for (const char* wrong : {"0", "0:1:2", "0-1", "0:1,0:1", ":"})
    CHECK_THROWS(parsed({"--pairs", wrong}).pairs("pairs", 3, "ranks"), UsageError);
}

TEST(help_names_every_option_with_its_default) {
  const std::string help = parsed({}).help();
  CHECK(contains(help, "Shows options."));
  CHECK(contains(help, "--output FILE"));
  CHECK(contains(help, "bytes [4,64KiB]"));
  CHECK(contains(help, "--quiet"));
}

TEST(help_shows_defaults_and_not_what_was_given) {
  CHECK(contains(parsed({"--count", "9"}).help(), "how many [3]"));
}

TEST(a_program_may_declare_a_common_option_anew) {
  Options options("demo", "Shows options.");
  options.add("sizes", "SIZES", "in general", "4").add("sizes", "SIZES", "of messages", "8");
  CHECK_EQ(listed(options.sizes("sizes")), std::string("8 "));
  CHECK(!contains(options.help(), "in general"));
}

TEST(sizes_are_written_as_they_are_read) {
  CHECK_EQ(weft::format_size(1 << 30), std::string("1GiB"));
  CHECK_EQ(weft::format_size(3 << 10), std::string("3KiB"));
  CHECK_EQ(weft::format_size(1025), std::string("1025"));
}
