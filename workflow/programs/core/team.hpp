// Agreement among the processes of a run: the driver and the sampler decide alike on every rank, or nobody
// would.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"

namespace weft {

/// The single-process case; the MPI programs pass their own (mpi/world.hpp). Every call is made by all
/// members.
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
  /// The words of the first member whose words are not empty, on every member; empty when none has any.
  virtual std::string words(const std::string& mine) { return mine; }
  /// The words of every member, in the members' order, on every member.
  virtual std::vector<std::string> everyones(const std::string& mine) { return {mine}; }
  /// What a record says of this member beside the devices it drives: nothing of one process.
  virtual Json self() const { return Json::object(); }
  virtual void barrier() {}
};

}  // namespace weft
