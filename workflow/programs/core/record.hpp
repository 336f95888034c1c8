// Record files: JSON Lines, flushed a line at a time to FILE.partial and renamed when complete.
#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/json.hpp"

namespace weft {

enum class Outcome { measured, unsupported, wrong, failed };
const char* to_string(Outcome outcome);

/// Writes one record file. Nothing is left under the final name unless finish() was called; the partial file
/// is removed when the writer is destroyed without finish(), and kept when the process dies.
class RecordWriter {
 public:
  /// Throws UsageError when the file cannot be written.
  explicit RecordWriter(std::filesystem::path output);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  /// Where the records are until the file is complete.
  static std::filesystem::path partial_of(const std::filesystem::path& output);

  void write(const Json& record);
  /// Writes the end record and renames the file. `phases_s`: what the wall time went into.
  void finish(const std::map<Outcome, std::size_t>& outcomes, double wall_time_s,
              const std::map<std::string, double>& phases_s);

 private:
  std::filesystem::path output_, partial_;
  std::FILE* file_ = nullptr;
};

}  // namespace weft
