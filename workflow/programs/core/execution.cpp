#include "core/execution.hpp"

#include <exception>
#include <stdexcept>

#include "core/device_state.hpp"
#include "core/error.hpp"
#include "core/link_traffic.hpp"

namespace weft {

namespace {

struct Verdict {
  Outcome outcome = Outcome::measured;
  std::string reason;
};

/// From good to bad.
int severity(Outcome outcome) { return static_cast<int>(outcome); }

Verdict agree(Team& team, const Verdict& mine) {
  const auto worst = static_cast<Outcome>(static_cast<int>(team.maximum(severity(mine.outcome))));
  if (worst == Outcome::measured) return {};
  return {worst, team.words(mine.outcome == worst ? mine.reason : "")};
}

/// Runs a part of a case; what it throws becomes the verdict.
template <class Part>
Verdict judge(Part part) {
  try {
    return part();
  } catch (const Unsupported& exception) {
    return {Outcome::unsupported, exception.what()};
  } catch (const std::exception& exception) {
    return {Outcome::failed, *exception.what() ? exception.what() : "an exception without words"};
  }
}

Verdict filter(const Case& subject) {
  if (!subject.unsupported) return {};
  const auto reason = subject.unsupported();
  if (!reason) return {};
  return {Outcome::unsupported, *reason};
}

Verdict verify(Measurement& measurement, Team& team) {
  measurement.wrong = static_cast<std::uint64_t>(team.maximum(static_cast<double>(measurement.wrong)));
  if (measurement.wrong == 0) return {};
  return {Outcome::wrong,
          "verification found " + std::to_string(measurement.wrong) + " wrong bytes or elements"};
}

void add_measurement(Json& record, const Measurement& measurement, bool keep_samples) {
  record.set("time_s", measurement.time.json(keep_samples, measurement.time_scale))
      .set("timer", measurement.timer);
  if (measurement.payload_bytes && *measurement.payload_bytes > 0)
    record.set("bandwidth_bytes_per_s",
               *measurement.payload_bytes / (measurement.time.median_s * measurement.time_scale));
  record.set("wrong", measurement.wrong).merge(measurement.extra);
}

/// Payload of some operations. The time of a ping-pong is scaled to one way, but its payload went both ways.
std::uint64_t payload_moved(const Measurement& measurement, std::size_t operations) {
  return static_cast<std::uint64_t>(*measurement.payload_bytes * static_cast<double>(operations) /
                                    measurement.time_scale);
}

/// An array of what every member of the team says of the devices that it drives; null where none has
/// anything.
Json of_all_devices(Team& team, const std::vector<Json>& mine) {
  if (team.maximum(mine.empty() ? 0 : 1) == 0) return {};
  std::string words;
  for (const Json& device : mine)
    words += (words.empty() ? "" : ",") + Json(device).merge(team.self()).dump();
  std::string all;
  for (const std::string& theirs : team.everyones(words))
    if (!theirs.empty()) all += (all.empty() ? "" : ",") + theirs;
  return Json::written("[" + all + "]");
}

}  // namespace

Result Execution::run(const Run& run) const {
  Result result;
  Json states, crossings;
  Verdict verdict = agree(run.team, judge([&] { return filter(subject); }));
  if (verdict.outcome == Outcome::measured) {
    Measurement measurement;
    Verdict mine = judge([&]() -> Verdict {
      if (subject.prepare) subject.prepare();
      const DeviceStates before(subject.devices);
      const WatchedDevices watched(subject.devices);
      measurement = subject.run();
      if (measurement.device_states.empty()) measurement.device_states = before.read();
      return {};
    });
    verdict = agree(run.team, mine);
    if (verdict.outcome == Outcome::measured) {
      verdict = agree(run.team, verify(measurement, run.team));
      states = of_all_devices(run.team, measurement.device_states);
      crossings = of_all_devices(run.team, measurement.time.proof.devices);
      result.measurement = std::move(measurement);
    }
  }
  result.outcome = verdict.outcome;
  result.reason = verdict.reason;
  result.record =
      Json::object({{"record", "measurement"}, {"outcome", to_string(verdict.outcome)}, {"benchmark", key}});
  if (verdict.outcome != Outcome::measured) result.record.set("reason", verdict.reason);
  result.record.merge(subject.identity);
  // Only the leader writes records, and a member that took no part has no samples to describe.
  if (!result.measurement || !run.team.leads()) return result;
  add_measurement(result.record, *result.measurement, run.sampling.keep_samples);
  const Measurement& measurement = *result.measurement;
  if (!states.is_null()) {
    result.record.set("device_states", states);
    if (measurement.payload_bytes)
      result.record.set("payload_bytes_moved", payload_moved(measurement, measurement.time.operations_total));
  }
  if (!crossings.is_null()) {
    const std::size_t operations = measurement.time.proof.operations;
    Json proof = Json::object({{"operations", operations}});
    if (measurement.payload_bytes) proof.set("payload_bytes", payload_moved(measurement, operations));
    result.record.set("path_proof", proof.set("devices", crossings));
  }
  return result;
}

}  // namespace weft
