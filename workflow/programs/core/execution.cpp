#include "core/execution.hpp"

#include <exception>
#include <stdexcept>

#include "core/device_state.hpp"
#include "core/error.hpp"

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

/// The time of a ping-pong is scaled to one way, but its payload went both ways.
std::uint64_t payload_moved(const Measurement& measurement) {
  const double operations = static_cast<double>(measurement.time.operations_total);
  return static_cast<std::uint64_t>(*measurement.payload_bytes * operations / measurement.time_scale);
}

}  // namespace

Result Execution::run(const Run& run) const {
  Result result;
  Json states = Json::array();
  Verdict verdict = agree(run.team, judge([&] { return filter(subject); }));
  if (verdict.outcome == Outcome::measured) {
    Measurement measurement;
    Verdict mine = judge([&]() -> Verdict {
      if (subject.prepare) subject.prepare();
      const DeviceStates before(subject.devices);
      measurement = subject.run();
      states = before.json();
      return {};
    });
    verdict = agree(run.team, mine);
    if (verdict.outcome == Outcome::measured) {
      verdict = agree(run.team, verify(measurement, run.team));
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
  if (states.dump() == "[]") return result;
  result.record.set("device_states", states);
  if (result.measurement->payload_bytes)
    result.record.set("payload_bytes_moved", payload_moved(*result.measurement));
  return result;
}

}  // namespace weft
