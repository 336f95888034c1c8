// One case carried out: filter, run, outcome agreed by the team, and the measurement record.
#pragma once

#include <optional>
#include <string>

#include "core/benchmark.hpp"
#include "core/record.hpp"

namespace weft {

struct Result {
  Outcome outcome = Outcome::failed;
  std::string reason;                      ///< empty when measured
  std::optional<Measurement> measurement;  ///< empty when the case did not come to its end
  Json record;                             ///< the leader's; null elsewhere
};

/// A case of the benchmark `key` ("p2p.copy").
struct Execution {
  std::string key;
  Case subject;

  /// How progress lines call it.
  std::string name() const { return key + " " + subject.label; }

  /// Never throws what the case threw: that is its outcome. The worst outcome of the team counts, and whether
  /// the case can run at all is agreed before any member begins. A member that throws between two messages
  /// leaves those that wait for it waiting: cases that communicate must end all ranks then
  /// (World::communicate).
  Result run(const Run& run) const;
};

}  // namespace weft
