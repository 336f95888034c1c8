#include "p2p/axes.hpp"

#include <algorithm>

#include "core/device.hpp"
#include "core/error.hpp"

namespace weft {

namespace {

Chunks read_chunks(const Options& options, std::uint64_t largest_size) {
  const std::string text = options.text("chunks");
  if (text == "auto") return {true, true, {}};
  if (text == "none") return {true, false, {}};
  Chunks chunks{false, false, options.sizes("chunks")};
  for (const auto chunk : chunks.sizes_bytes) {
    if (chunk >= largest_size)
      throw UsageError("--chunks " + format_size(chunk) + " is not smaller than the largest of --sizes, " +
                       format_size(largest_size) + "; name smaller chunks or larger sizes.");
  }
  return chunks;
}

std::vector<int> read_streams(const Options& options) {
  constexpr int most_streams = 16;
  std::vector<std::string> numbers;
  for (int i = 1; i <= most_streams; ++i)
    numbers.push_back(std::to_string(i));
  std::vector<int> streams;
  for (const std::string& number : options.choices("streams", numbers))
    streams.push_back(std::stoi(number));
  return streams;
}

std::optional<KernelGrid> read_kernel_grid(const Options& options) {
  const std::string text = options.text("kernel-grid");
  if (text == "auto") return std::nullopt;
  if (backend() == Backend::host)
    throw UsageError("--kernel-grid " + text +
                     " is for the cuda backend: the host backend's copy kernel is one thread.");
  return parse_kernel_grid(text);
}

void check_via(const Options& options, const Axes& axes) {
  const bool named = options.text("via") != "all" && options.text("pairs") != "all";
  if (!named) return;
  for (const auto& [source, destination] : axes.pairs) {
    for (const int via : axes.via) {
      if (via == source || via == destination)
        throw UsageError("--via " + std::to_string(via) + " is an end of the pair " + std::to_string(source) +
                         ":" + std::to_string(destination) + "; name a third device.");
    }
  }
}

}  // namespace

void declare_axes(Options& options) {
  options.add("pairs", "PAIRS", "all ordered pairs of devices, or SOURCE:DESTINATION,...", "all");
  options.add("via", "DEVICES", "route: intermediate devices, all or a list; a pair skips its own ends",
              "all");
  options.add("engines", "LIST", "copy: copy_engine, kernel", "copy_engine,kernel");
  options.add("operations", "LIST", "copy, fanout: write (the source pushes), read (the destination pulls)",
              "write,read");
  options.add("peer-access", "LIST", "copy, latency: on, off (staged through host memory)", "on,off");
  options.add("directions", "LIST", "copy: unidirectional, bidirectional", "unidirectional,bidirectional");
  options.add("streams", "LIST", "copy: among how many streams the payload is split, 1 to 16", "1");
  options.add("batching", "LIST",
              "copy, latency by smallest_copy: stream (enqueued one by one), graph (a batch as one graph)",
              "stream");
  options.add("kernel-grid", "GRID", "copy by kernel: BLOCKSxTHREADSxUNROLL, or auto: the fastest found",
              "auto");
  options.add("memory", "LIST", "host: pinned, pageable", "pinned,pageable");
  options.add("host-directions", "LIST", "host: host_to_device, device_to_host, bidirectional",
              "host_to_device,device_to_host,bidirectional");
  options.add("host-patterns", "LIST", "host: one_device, all_devices (all of --devices at once)",
              "one_device,all_devices");
  options.add("patterns", "LIST", "fanout: one_to_all, all_to_one, all_pairs",
              "one_to_all,all_to_one,all_pairs");
  options.add("devices", "DEVICES",
              "host: devices measured; fanout and host by all_devices: devices that take part; all or a list",
              "all");
  options.add("methods", "LIST", "latency: smallest_copy, start_up, load_store",
              "smallest_copy,start_up,load_store");
  options.add("addresses", "LIST", "atomics: one word for all threads, neighbouring words, spread words",
              "one,neighbouring,spread");
  options.add("results", "LIST", "atomics: unused, used (threads want the word's old value)", "unused,used");
  options.add("chunks", "SIZES",
              "route: none (whole payload), auto (also the best chunk found), or chunk sizes", "auto");
}

Axes::Axes(const Options& options)
    : sizes(options.sizes("sizes")), pairs(options.pairs("pairs", device_count(), "devices")),
      devices(options.indices("devices", device_count(), "devices")),
      via(options.indices("via", device_count(), "devices")),
      engines(options.choices("engines", {"copy_engine", "kernel"})),
      operations(options.choices("operations", {"write", "read"})),
      directions(options.choices("directions", {"unidirectional", "bidirectional"})),
      batching(options.choices("batching", {"stream", "graph"})),
      memory(options.choices("memory", {"pinned", "pageable"})),
      host_directions(
          options.choices("host-directions", {"host_to_device", "device_to_host", "bidirectional"})),
      host_patterns(options.choices("host-patterns", {"one_device", "all_devices"})),
      patterns(options.choices("patterns", {"one_to_all", "all_to_one", "all_pairs"})),
      methods(options.choices("methods", {"smallest_copy", "start_up", "load_store"})),
      addresses(options.choices("addresses", {"one", "neighbouring", "spread"})),
      results(options.choices("results", {"unused", "used"})), peer_access(options.switches("peer-access")),
      streams(read_streams(options)), kernel_grid(read_kernel_grid(options)),
      chunks(read_chunks(options, *std::max_element(sizes.begin(), sizes.end()))) {
  check_via(options, *this);
}

}  // namespace weft
