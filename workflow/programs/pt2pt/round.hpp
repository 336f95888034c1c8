// A round: groups of ranks that communicate at the same time, each measured by itself.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/benchmark.hpp"
#include "mpi/pairing.hpp"
#include "mpi/world.hpp"
#include "pt2pt/axes.hpp"
#include "pt2pt/endpoint.hpp"

namespace weft {

/// What a rank does in an operation, and what the operation is worth.
struct Exercise {
  /// Runs operations back to back; `source` tells which side this rank is on.
  std::function<void(Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes,
                     std::size_t operations)>
      run;
  bool both_ways;                 ///< the source receives too
  double time_scale;              ///< as Measurement's
  std::size_t messages_per_pair;  ///< that count as payload, in one operation
};

/// Pairs measured as one.
using PairGroup = std::vector<RankPair>;

/// Measures its groups when the first result is asked for; every rank asks for all of them in the same order.
class Round {
 public:
  Round(const Run& run, std::shared_ptr<Workbench> workbench, Exercise exercise, Configuration configuration,
        std::vector<PairGroup> groups);

  Measurement result(std::size_t group);

  const std::vector<PairGroup>& groups() const { return groups_; }
  std::size_t pairs() const;

 private:
  /// What a group's members found, on every rank of the world.
  struct Found {
    TimeSummary time;
    std::optional<std::uint64_t> best_chunk_bytes;
    std::vector<std::pair<std::uint64_t, double>> tried;  ///< chunk and seconds
    std::vector<Json> device_states;                      ///< of this rank's device, where it is a member
    std::uint64_t wrong = 0;                              ///< bytes at all members
  };
  struct Role {
    std::size_t group;
    int peer;
    bool source;
  };

  void measure();
  std::optional<Role> own_role() const;
  Found measure_group(const Role& role);
  void share(Found& found, std::size_t group) const;
  double timed(Team& team, const Role& role, std::size_t operations);
  void search_chunk(Team& team, const Role& role, Found& found);
  std::uint64_t keep_busy(Team& team, const Role& role, std::size_t operations);

  const Run& run_;
  World& world_;
  std::shared_ptr<Workbench> workbench_;
  Exercise exercise_;
  Configuration configuration_;
  std::vector<PairGroup> groups_;
  Endpoint* endpoint_ = nullptr;  ///< while measuring
  bool measured_ = false;
  std::exception_ptr failure_;
  std::vector<Found> found_;
};

}  // namespace weft
