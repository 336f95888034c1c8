// p2p.atomics: how many atomic additions a second the threads of one device make to the memory of another.
#include "p2p/axes.hpp"
#include "p2p/counters.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

constexpr std::uint64_t size_bytes = 8;

struct Point {
  int source, destination;
  std::string address, result;

  Addresses addresses() const {
    if (address == "one") return Addresses::one;
    return address == "neighbouring" ? Addresses::neighbouring : Addresses::spread;
  }
};

std::optional<std::string> unsupported(const Point& point) {
  if (auto reason = without_peer_access(point.source, point.destination)) return reason;
  if (!has_peer_atomics(point.source, point.destination))
    return "the link from device " + std::to_string(point.source) + " to device " +
           std::to_string(point.destination) + " carries no atomic operations";
  return exceeds_memory(
      {{Memory::device, point.destination, Counters::bytes_of(point.source, point.addresses())}});
}

Measurement run_point(const Run& run, const Point& point) {
  const PeerAccess access(point.source, point.destination);
  Counters counters(point.source, point.destination, point.addresses(), point.result == "used");
  const std::vector<Lane> lanes{counters.lane()};
  time_lanes(lanes, 1, false);  // peer memory is mapped at first use, which must not be timed
  Measurement measurement;
  measurement.time =
      sample(run.sampling, [&](std::size_t operations) { return time_lanes(lanes, operations); }, run.team);
  ++measurement.time.operations_total;
  measurement.time_scale = 1.0 / static_cast<double>(counters.adds_per_operation());
  measurement.wrong = counters.wrong(measurement.time.operations_total);
  measurement.extra.set("atomics_per_s", 1.0 / (measurement.time.median_s * measurement.time_scale));
  return measurement;
}

Case make_case(const Run& run, const Point& point) {
  Case c;
  c.identity = Json::object({{"source", point.source},
                             {"destination", point.destination},
                             {"peer_access", true},
                             {"engine", "kernel"},
                             {"address", point.address},
                             {"result", point.result},
                             {"size_bytes", size_bytes}});
  c.label = std::to_string(point.source) + "->" + std::to_string(point.destination) + " " + point.address +
            " result " + point.result;
  c.devices = {point.source, point.destination};
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, point] { return run_point(run, point); };
  return c;
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& [source, destination] : axes.pairs)
    for (const auto& address : axes.addresses)
      for (const auto& each : axes.results)
        result.push_back(make_case(run, {source, destination, address, each}));
  return result;
}

const Registered atomics_benchmark{
    {"atomics",
     "atomic additions to words of 8 bytes in the memory of another device, by as many threads as fill the "
     "adding one; the time is that of one addition among them",
     {{"source", "", "device whose threads add"},
      {"destination", "", "device that holds the words (needs peer access)"},
      {"address", "",
       "one word for all threads; neighbouring words, one a thread; or spread 128 bytes apart"},
      {"result", "", "unused, or used: the threads want what the word held before"}},
     cases}};

}  // namespace

}  // namespace weft
