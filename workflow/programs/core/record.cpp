#include "core/record.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include "core/error.hpp"

namespace weft {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::runtime_error(path.string() + " cannot be " + what + ": " + std::strerror(error));
}

[[noreturn]] void refuse(const fs::path& output, const std::string& why) {
  throw UsageError("--output " + output.string() + " cannot be written: " + why + ".");
}

/// Opens the partial file for this process alone. File systems without locks are taken as they are.
int open_partial(const fs::path& output, const fs::path& partial) {
  const int descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(output, std::strerror(errno));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor);
    refuse(output,
           "another process is writing it; did the MPI launcher start processes that do not see each other?");
  }
  if (::ftruncate(descriptor, 0) != 0) {
    const int error = errno;
    ::close(descriptor);
    refuse(output, std::strerror(error));
  }
  return descriptor;
}

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
  case Outcome::measured:
    return "measured";
  case Outcome::unsupported:
    return "unsupported";
  case Outcome::wrong:
    return "wrong";
  case Outcome::failed:
    return "failed";
  }
  throw std::logic_error("no such outcome");
}

RecordWriter::RecordWriter(fs::path output) : output_(std::move(output)), partial_(partial_of(output_)) {
  if (output_.filename().empty()) refuse(output_, "it names a folder, not a file");
  if (fs::is_directory(output_)) refuse(output_, "it is a folder");
  std::error_code error;
  if (output_.has_parent_path()) fs::create_directories(output_.parent_path(), error);
  if (error) refuse(output_, error.message());
  const int descriptor = open_partial(output_, partial_);
  file_ = ::fdopen(descriptor, "w");
  if (!file_) {
    const int reason = errno;
    ::close(descriptor);
    refuse(output_, std::strerror(reason));
  }
}

fs::path RecordWriter::partial_of(const fs::path& output) { return output.string() + ".partial"; }

RecordWriter::~RecordWriter() {
  if (!file_) return;
  std::fclose(file_);
  std::error_code ignored;  // a destructor cannot report, and the partial name says what the file is
  fs::remove(partial_, ignored);
}

void RecordWriter::write(const Json& record) {
  const std::string line = record.dump() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0)
    fail("written", partial_, errno);
}

void RecordWriter::finish(const std::map<Outcome, std::size_t>& outcomes, double wall_time_s,
                          const std::map<std::string, double>& phases_s) {
  Json counts = Json::object(), phases = Json::object();
  for (const auto& [phase, time_s] : phases_s)
    phases.set(phase, time_s);
  std::size_t measurements = 0;
  for (const Outcome outcome : {Outcome::measured, Outcome::unsupported, Outcome::wrong, Outcome::failed}) {
    const auto found = outcomes.find(outcome);
    const std::size_t count = found == outcomes.end() ? 0 : found->second;
    counts.set(to_string(outcome), count);
    measurements += count;
  }
  write(Json::object({{"record", "end"},
                      {"measurements", measurements},
                      {"outcomes", counts},
                      {"wall_time_s", wall_time_s},
                      {"phases_s", phases}}));
  if (::fsync(::fileno(file_)) != 0) fail("written", partial_, errno);
  std::FILE* file = std::exchange(file_, nullptr);
  const int closed = std::fclose(file) == 0 ? 0 : errno;
  std::error_code error(closed, std::generic_category());
  if (!error) fs::rename(partial_, output_, error);
  if (error) {
    std::error_code ignored;
    fs::remove(partial_, ignored);
    fail("completed", output_, error.value());
  }
}

}  // namespace weft
