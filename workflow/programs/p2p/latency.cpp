// p2p.latency: how soon the smallest piece of data arrives, by a copy or by a store that the other side waits
// for.
#include <algorithm>

#include "p2p/axes.hpp"
#include "p2p/ping_pong.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

constexpr std::uint64_t size_bytes = 4;

struct Point {
  int source, destination;
  std::string method;
  bool peer_access;
};

std::optional<std::string> unsupported(const Point& point) {
  if (point.peer_access) {
    if (auto reason = without_peer_access(point.source, point.destination)) return reason;
  }
  if (point.method == "smallest_copy") return std::nullopt;
  if (!point.peer_access)
    return "a load or store cannot reach the memory of another device without peer access";
  const auto cores = device_properties(point.source).cores;
  for (const int core : device_properties(point.destination).cores) {
    if (std::find(cores.begin(), cores.end(), core) != cores.end())
      return "devices " + std::to_string(point.source) + " and " + std::to_string(point.destination) +
             " share core " + std::to_string(core) + ", so that one cannot answer while the other waits";
  }
  return std::nullopt;
}

Measurement smallest_copy(const Run& run, const Point& point) {
  std::vector<Transfer> transfers;
  transfers.emplace_back(point.source, point.destination, size_bytes);
  Stream stream(point.source);
  auto measurement = measure(run, transfers, size_bytes,
                             {transfers[0].lane(stream, "copy_engine", size_bytes)}, point.peer_access);
  measurement.payload_bytes.reset();
  return measurement;
}

Measurement load_store(const Run& run, const Point& point) {
  PingPong ping_pong(point.source, point.destination);
  SamplerOptions sampling = run.sampling;
  sampling.min_sample_s = std::max(sampling.min_sample_s, PingPong::min_sample_s);
  Measurement measurement;
  measurement.time =
      sample(sampling, [&](std::size_t round_trips) { return ping_pong.time(round_trips); }, run.team);
  measurement.time_scale = 0.5;
  measurement.timer = PingPong::timer;
  measurement.wrong = ping_pong.wrong_bytes();
  return measurement;
}

Measurement run_point(const Run& run, const Point& point) {
  std::optional<PeerAccess> access;
  if (point.peer_access) access.emplace(point.source, point.destination);
  return point.method == "smallest_copy" ? smallest_copy(run, point) : load_store(run, point);
}

Case make_case(const Run& run, const Point& point) {
  Case c;
  c.identity = Json::object({{"source", point.source},
                             {"destination", point.destination},
                             {"method", point.method},
                             {"peer_access", point.peer_access},
                             {"operation", "write"},
                             {"engine", point.method == "smallest_copy" ? "copy_engine" : "kernel"},
                             {"size_bytes", size_bytes}});
  c.label = std::to_string(point.source) + "->" + std::to_string(point.destination) + " " + point.method +
            (point.peer_access ? "" : " staged");
  c.devices = {point.source, point.destination};
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, point] { return run_point(run, point); };
  return c;
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& [source, destination] : axes.pairs) {
    for (const auto& method : axes.methods) {
      for (const bool peer_access : axes.peer_access)
        result.push_back(make_case(run, {source, destination, method, peer_access}));
    }
  }
  return result;
}

const Registered latency_benchmark{
    {"latency",
     "time of a 4-byte copy among many in one stream, each done before the next begins; and half a round "
     "trip of a "
     "4-byte flag that either side stores into the other's memory and waits for in its own",
     {{"source", "", "device that copies, or that starts the round trip"},
      {"destination", "", "device that gets the bytes, or that answers"},
      {"method", "", "smallest_copy or load_store (needs peer access)"},
      {"peer_access", "", "on: straight from device to device; off: staged through host memory"}},
     cases}};

}  // namespace

}  // namespace weft
