// p2p.latency: how soon the smallest piece of data arrives, by a copy among many, by a copy alone that the
// host waits for, or by a store that the other side waits for.
#include <algorithm>
#include <chrono>

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
  std::optional<std::string> batching;  ///< of smallest_copy alone

  bool as_graph() const { return batching == "graph"; }
};

std::optional<std::string> unsupported(const Point& point) {
  if (point.peer_access) {
    if (auto reason = without_peer_access(point.source, point.destination)) return reason;
  }
  if (point.as_graph() && !point.peer_access)
    return "a copy that the driver stages through host memory cannot be part of a graph";
  if (point.method != "load_store") return std::nullopt;
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
  const Feed feed = point.as_graph() ? Feed::graph : point.peer_access ? Feed::gated : Feed::ungated;
  auto measurement = measure(run, transfers, size_bytes, {transfers[0].lane(stream, size_bytes)}, feed);
  measurement.payload_bytes.reset();
  return measurement;
}

/// Every copy by itself: from before its call until the host knows that it has ended.
Measurement start_up(const Run& run, const Point& point) {
  std::vector<Transfer> transfers;
  transfers.emplace_back(point.source, point.destination, size_bytes);
  Stream stream(point.source);
  const Lane lane = transfers[0].lane(stream, size_bytes);
  auto measurement = measure(run, transfers, size_bytes, [&](std::size_t operations) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < operations; ++i) {
      lane.enqueue(i);
      stream.synchronize();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  measurement.timer = "host_clock";
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
  if (point.method == "smallest_copy") return smallest_copy(run, point);
  return point.method == "start_up" ? start_up(run, point) : load_store(run, point);
}

Case make_case(const Run& run, const Point& point) {
  Case c;
  c.identity = Json::object({{"source", point.source},
                             {"destination", point.destination},
                             {"method", point.method},
                             {"peer_access", point.peer_access},
                             {"operation", "write"},
                             {"engine", point.method == "load_store" ? "kernel" : "copy_engine"},
                             {"batching", point.batching},
                             {"size_bytes", size_bytes}});
  c.label = std::to_string(point.source) + "->" + std::to_string(point.destination) + " " + point.method +
            (point.peer_access ? "" : " staged") + (point.as_graph() ? " graph" : "");
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
      std::vector<std::optional<std::string>> batching{std::nullopt};
      if (method == "smallest_copy") batching.assign(axes.batching.begin(), axes.batching.end());
      for (const bool peer_access : axes.peer_access)
        for (const auto& each : batching)
          result.push_back(make_case(run, {source, destination, method, peer_access, each}));
    }
  }
  return result;
}

const Registered latency_benchmark{
    {"latency",
     "time of a 4-byte copy among many in one stream, each done before the next begins; of one alone, from "
     "its call until the host knows that it has ended; and half a round trip of a 4-byte flag that either "
     "side stores into the other's memory and waits for in its own",
     {{"source", "", "device that copies, or that starts the round trip"},
      {"destination", "", "device that gets the bytes, or that answers"},
      {"method", "", "smallest_copy, start_up, or load_store (needs peer access)"},
      {"peer_access", "", "on: straight from device to device; off: staged through host memory"},
      {"batching", "", "smallest_copy: stream or graph, as in copy"}},
     cases}};

}  // namespace

}  // namespace weft
