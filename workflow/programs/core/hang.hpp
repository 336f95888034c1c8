// A hang in words, and how ranks find out which of them cause it.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// What the process that tells of a hang knows of it.
struct Hang {
  std::string program;
  std::string activity;  ///< operation and phase: "pt2pt.latency 0->1 8 pinned, sampling"
  double limit_s = 0;
  std::string self;                  ///< who tells: "rank 0 on n1"; of a process alone: its host
  std::vector<std::string> members;  ///< every rank, as self; empty: one process alone, or not yet known
  bool alone = false;
  std::vector<int> with;                 ///< the ranks that had to take part, this one among them
  std::optional<std::set<int>> waiting;  ///< those that noticed the hang too; empty: not known
};

/// The one sentence: operation, phase, who does not answer and who waits.
std::string hang_sentence(const Hang& hang);

/// The notices of ranks that are stuck, in a folder that all of them see: empty files named by rank. Who took
/// part and leaves none does not answer.
class Notices {
 public:
  explicit Notices(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// False where it cannot be written.
  bool leave(int rank) const;
  std::set<int> read() const;
  void clear() const;

 private:
  std::filesystem::path folder_;
};

}  // namespace weft
