// Agreement among the processes of a run: the driver and the sampler decide alike on every rank, or nobody would.
#pragma once

namespace weft {

/// The single-process case; the MPI programs pass their own (mpi/world.hpp).
class Team {
 public:
  virtual ~Team() = default;
  /// Writes the records and talks to the user.
  virtual bool leads() const { return true; }
  /// The leader's value, on every member.
  virtual double leaders(double value) { return value; }
  /// The largest value, on every member.
  virtual double maximum(double value) { return value; }
  /// The sum, on every member.
  virtual double sum(double value) { return value; }
  virtual void barrier() {}
};

}  // namespace weft
