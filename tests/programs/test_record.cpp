#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include "check.hpp"
#include "core/error.hpp"
#include "core/record.hpp"

using weft::Json;
using weft::Outcome;
using weft::RecordWriter;
using weft::UsageError;

namespace {

namespace fs = std::filesystem;

/// An empty folder while it lives.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "weft-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json line(int number) { return Json::object({{"record", "measurement"}, {"number", number}}); }

}  // namespace

TEST(records_are_flushed_a_line_each_and_renamed_at_the_end) {
  const Folder folder;
  const fs::path output = folder.path / "new" / "deep" / "records.jsonl",
                 partial = output.string() + ".partial";
  RecordWriter writer(output);
  CHECK(fs::exists(partial));
  writer.write(line(1));
  CHECK_EQ(content(partial), std::string("{\"record\":\"measurement\",\"number\":1}\n"));
  CHECK(!fs::exists(output));
  writer.finish({{Outcome::measured, 2}, {Outcome::wrong, 1}}, 1.5, {{"sampling", 1.25}});
  CHECK(!fs::exists(partial));
  CHECK_EQ(
      content(output),
      std::string(
          "{\"record\":\"measurement\",\"number\":1}\n{\"record\":\"end\",\"measurements\":3,\"outcomes\":{"
          "\"measured\":2,\"unsupported\":0,\"wrong\":1,\"failed\":0},\"wall_time_s\":1.5,\"phases_s\":{"
          "\"sampling\":1.25}}\n"));
}

TEST(an_earlier_file_stays_until_the_new_one_is_complete) {
  const Folder folder;
  const fs::path output = folder.path / "records.jsonl";
  std::ofstream(output) << "before";
  RecordWriter writer(output);
  writer.write(line(1));
  CHECK_EQ(content(output), std::string("before"));
  writer.finish({}, 0, {});
  CHECK(content(output) != "before");
}

TEST(nothing_is_left_of_what_was_not_finished) {
  const Folder folder;
  {
    RecordWriter writer(folder.path / "records.jsonl");
    writer.write(line(1));
  }
  CHECK(fs::is_empty(folder.path));
}

TEST(what_a_killed_process_left_is_overwritten) {
  const Folder folder;
  std::ofstream(folder.path / "records.jsonl.partial")
      << "a long line of a run that was killed before its end\n";
  RecordWriter writer(folder.path / "records.jsonl");
  writer.write(line(1));
  CHECK_EQ(content(folder.path / "records.jsonl.partial"),
           std::string("{\"record\":\"measurement\",\"number\":1}\n"));
}

TEST(a_file_that_another_process_writes_is_refused) {
  const Folder folder;
  RecordWriter writer(folder.path / "records.jsonl");
  writer.write(line(1));
  const std::string words = CHECK_THROWS(RecordWriter(folder.path / "records.jsonl"), UsageError);
  CHECK(words.find("another process is writing it") != std::string::npos);
  CHECK(!content(folder.path / "records.jsonl.partial").empty());
}

TEST(what_cannot_be_written_is_refused_by_name_and_reason) {
  const Folder folder;
  std::ofstream(folder.path / "file") << "x";
  CHECK_EQ(CHECK_THROWS(RecordWriter(folder.path / "file" / "records.jsonl"), UsageError),
           "--output " + (folder.path / "file" / "records.jsonl").string() +
               " cannot be written: Not a directory.");
  CHECK_EQ(CHECK_THROWS(RecordWriter(folder.path), UsageError),
           "--output " + folder.path.string() + " cannot be written: it is a folder.");
  CHECK_THROWS(RecordWriter(folder.path.string() + "/"), UsageError);
  CHECK_THROWS(RecordWriter("/proc/records.jsonl"), UsageError);
}

TEST(a_full_disk_is_an_error_that_names_the_file) {
  const Folder folder;
  RecordWriter writer(folder.path / "records.jsonl");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string words = CHECK_THROWS(writer.write(line(1)), std::runtime_error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK_EQ(words, (folder.path / "records.jsonl.partial").string() + " cannot be written: File too large");
}
