// p2p.route: from a device to another through a third one, whole or in chunks, beside the direct way.
#include <algorithm>

#include "core/pattern.hpp"
#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/relay.hpp"

namespace weft {

namespace {

constexpr std::uint64_t smallest_chunk = 64 << 10;
// More of them cost more to launch than overlapping saves.
constexpr std::uint64_t most_chunks = 1024;

struct Point {
  int source, destination;
  std::optional<int> via;
  std::optional<std::uint64_t> chunk_bytes;  ///< none: the whole payload at once
  bool search;                               ///< the best chunk instead
  std::uint64_t size_bytes;

  bool peer_access() const { return via || !without_peer_access(source, destination); }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    std::vector<Need> result{{Memory::device, source, capacity_bytes},
                             {Memory::device, destination, capacity_bytes}};
    if (via) result.push_back({Memory::device, *via, capacity_bytes});
    return result;
  }
};

/// The buffers along a way, and peer access for as long as they are used.
struct Way {
  std::vector<PeerAccess> access;
  std::vector<Transfer> transfers;
  std::optional<Buffer> stage;

  Way(const Point& point, std::uint64_t capacity_bytes) {
    if (point.via) {
      access.emplace_back(point.source, *point.via);
      access.emplace_back(*point.via, point.destination);
      stage.emplace(Memory::device, *point.via, capacity_bytes);
    } else if (point.peer_access()) {
      access.emplace_back(point.source, point.destination);
    }
    transfers.emplace_back(point.source, point.destination, capacity_bytes);
  }
};

std::string no_third_device() {
  return "a route needs a third device, and there are " + std::to_string(device_count());
}

std::optional<std::string> unsupported(const Point& point) {
  if (point.via) {
    for (const int end : {point.source, point.destination}) {
      if (auto reason = without_peer_access(end, *point.via)) return reason;
    }
  }
  return exceeds_memory(point.needs(point.size_bytes));
}

struct Search {
  std::uint64_t best_bytes = 0;
  Json tried = Json::array();
  std::size_t operations = 0;
};

/// Looks at powers of two, briefly each: the best one is measured in full afterwards.
Search search_chunk(const Run& run, const Way& way, std::uint64_t size_bytes) {
  SamplerOptions brief = run.sampling;
  brief.min_samples = 3;
  brief.max_samples = 20;
  brief.prove_path = false;
  brief.budget_s = run.sampling.budget_s / 10;
  Search search;
  double best_s = 0;
  for (std::uint64_t chunk = smallest_chunk; chunk <= size_bytes / 2; chunk *= 2) {
    if (chunk < size_bytes / most_chunks) continue;
    Relay relay(way.transfers[0], *way.stage, size_bytes, chunk);
    const std::vector<Lane> lanes{relay.lane()};
    const auto time =
        sample(brief, [&](std::size_t operations) { return time_lanes(lanes, operations); }, run.team);
    search.tried.push(Json::object({{"chunk_bytes", chunk}, {"time_s", time.median_s}}));
    search.operations += time.operations_total;
    if (search.best_bytes == 0 || time.median_s < best_s) {
      search.best_bytes = chunk;
      best_s = time.median_s;
    }
  }
  return search;
}

Measurement run_relayed(const Run& run, Way& way, const Point& point) {
  Search search;
  if (point.search) search = search_chunk(run, way, point.size_bytes);
  const std::uint64_t chunk = point.search ? search.best_bytes : point.chunk_bytes.value_or(point.size_bytes);
  Relay relay(way.transfers[0], *way.stage, point.size_bytes, chunk);
  auto measurement = measure(run, way.transfers, point.size_bytes, {relay.lane()}, Feed::gated, [&] {
    fill_pattern(*way.stage, 0, Relay::stage_bytes(point.size_bytes, chunk), 0);
  });
  if (point.search) {
    measurement.time.operations_total += search.operations;
    measurement.extra.set("chunk_bytes", chunk).set("chunk_search", search.tried);
  }
  return measurement;
}

Measurement run_point(const Run& run, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family = "route " + std::to_string(point.source) + ":" +
                             std::to_string(point.via.value_or(-1)) + ":" + std::to_string(point.destination);
  Way& way = workspace.of<Way>(family, [&] { return Way(point, capacity_bytes); });
  if (point.via) return run_relayed(run, way, point);
  Stream stream(point.source);
  return measure(run, way.transfers, point.size_bytes, {way.transfers[0].lane(stream, point.size_bytes)},
                 point.peer_access() ? Feed::gated : Feed::ungated);
}

std::string label(const Point& point) {
  std::string text = std::to_string(point.source) + "->";
  if (point.via) text += std::to_string(*point.via) + "->";
  text += std::to_string(point.destination) + " " + format_size(point.size_bytes);
  if (point.search) return text + " best chunk";
  return text + (point.chunk_bytes ? " chunk " + format_size(*point.chunk_bytes) : " whole");
}

Case make_case(const Run& run, const Point& point, std::uint64_t capacity_bytes) {
  Case c;
  c.identity =
      Json::object({{"source", point.source},
                    {"via", point.via},
                    {"destination", point.destination},
                    {"engine", "copy_engine"},
                    {"operation", "write"},
                    {"peer_access", point.peer_access()},
                    {"chunk_bytes", point.search ? std::optional(smallest_chunk) : point.chunk_bytes},
                    {"size_bytes", point.size_bytes}});
  c.label = label(point);
  c.devices = {point.source, point.destination};
  if (point.via) c.devices.push_back(*point.via);
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *workspace, point, capacity_bytes);
  };
  return c;
}

/// The ways of one pair through one device, or the direct one.
void add_way(std::vector<Case>& result, const Run& run, const Axes& axes, Point point) {
  const auto capacity = largest_fitting(axes.sizes, [&](auto size) { return point.needs(size); });
  const auto add = [&](std::optional<std::uint64_t> chunk_bytes, bool search, std::uint64_t larger_than) {
    for (const auto size : axes.sizes) {
      if (size <= larger_than) continue;
      point.chunk_bytes = chunk_bytes;
      point.search = search;
      point.size_bytes = size;
      result.push_back(make_case(run, point, capacity));
    }
  };
  if (axes.chunks.plain || !point.via) add(std::nullopt, false, 0);
  if (!point.via) return;
  for (const auto chunk : axes.chunks.sizes_bytes)
    add(chunk, false, chunk);
  if (axes.chunks.search) add(std::nullopt, true, 2 * smallest_chunk - 1);
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& [source, destination] : axes.pairs) {
    std::vector<std::optional<int>> ways{std::nullopt};
    for (const int via : axes.via) {
      if (via != source && via != destination) ways.push_back(via);
    }
    if (ways.size() == 1 && device_count() > 2) continue;  // every device named is an end of this pair
    for (const auto via : ways)
      add_way(result, run, axes, {source, destination, via, {}, false, 0});
  }
  if (device_count() < 3) {
    for (Case& c : result)
      c.unsupported = [] { return no_third_device(); };
  }
  return result;
}

const Registered route_benchmark{
    {"route",
     "source to destination through a third device that stores and forwards, by copy engines with peer "
     "access; beside "
     "it the direct copy",
     {{"source", "", "device that has the bytes"},
      {"via", "",
       "device they pass through; null: the direct copy, staged through host memory without peer access"},
      {"destination", "", "device that gets them"},
      {"chunk_bytes", "B",
       "null: the whole payload is forwarded at once; else chunks of which the next comes in while "
       "the last goes on; the best of a short search is measured in full"},
      {"size_bytes", "B", "payload"}},
     cases}};

}  // namespace

}  // namespace weft
