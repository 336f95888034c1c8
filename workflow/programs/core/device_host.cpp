// Host backend: devices, peer access, streams, events and copies.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <unistd.h>

#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {
namespace {

constexpr int most_devices = 256;
constexpr std::size_t staging_bytes = 1 << 20;

/// All that the process knows of its devices; made on first use.
struct Devices {
  explicit Devices(int wished) {
    const std::vector<NumaNode> nodes = usable_numa_nodes();
    places = place_devices(nodes, wished > 0 ? wished : std::max<int>(4, nodes.size()));
  }
  std::vector<NumaNode> places;
  std::map<int, int> streams_of_core;
  std::map<std::pair<int, int>, int> peers;
};

std::mutex devices_mutex;
int wished_devices = 0;  // 0: the default
std::unique_ptr<Devices> made_devices;

/// Calls `use` with the devices, under their lock.
template <class Use>
decltype(auto) with_devices(Use use) {
  std::lock_guard lock(devices_mutex);
  if (!made_devices) made_devices = std::make_unique<Devices>(wished_devices);
  return use(*made_devices);
}

/// Takes the core of the device that has the fewest streams.
int take_core(int device) {
  return with_devices([&](Devices& all) {
    const std::vector<int>& cores = all.places[device].cores;
    auto& streams = all.streams_of_core;
    const int core =
        *std::min_element(cores.begin(), cores.end(), [&](int a, int b) { return streams[a] < streams[b]; });
    ++streams[core];
    return core;
  });
}

bool have_peer_access(int a, int b) {
  return with_devices([&](Devices& all) { return all.peers.count(std::minmax(a, b)) > 0; });
}

void copy_staged(std::byte* destination, const std::byte* source, std::size_t size_bytes,
                 std::byte* staging) {
  for (std::size_t done = 0; done < size_bytes;) {
    const std::size_t chunk = std::min(staging_bytes, size_bytes - done);
    std::memcpy(staging, source + done, chunk);
    std::memcpy(destination + done, staging, chunk);
    done += chunk;
  }
}

}  // namespace

Backend backend() { return Backend::host; }

void set_host_devices(int count) {
  if (count < 1 || count > most_devices)
    throw UsageError("--host-devices is " + std::to_string(count) + ", but must be between 1 and " +
                     std::to_string(most_devices) + ".");
  std::lock_guard lock(devices_mutex);
  if (made_devices && made_devices->places.size() != static_cast<std::size_t>(count))
    throw UsageError("--host-devices came too late: the devices are in use already.");
  wished_devices = count;
}

int device_count() {
  return with_devices([](Devices& all) { return static_cast<int>(all.places.size()); });
}

const NumaNode& host_place(int device) {
  detail::check_device(device);
  return with_devices([&](Devices& all) -> const NumaNode& { return all.places[device]; });
}

DeviceProperties device_properties(int device) {
  DeviceProperties properties;
  properties.device = device;
  properties.cores = host_place(device).cores;
  properties.name = "host memory of core " + format_cpu_list(properties.cores);
  const std::uint64_t memory_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  properties.memory_bytes = memory_bytes / device_count();
  return properties;
}

bool can_access_peer(int device, int peer) {
  detail::check_device(device);
  detail::check_device(peer);
  return true;
}

bool has_peer_atomics(int device, int peer) { return can_access_peer(device, peer); }

PeerAccess::PeerAccess(int a, int b) : a_(a), b_(b) {
  detail::check_device(a);
  detail::check_device(b);
  if (a == b) return;
  with_devices([&](Devices& all) { return ++all.peers[std::minmax(a, b)]; });
}

PeerAccess::~PeerAccess() {
  if (a_ == b_) return;
  with_devices([&](Devices& all) {
    const auto peers = all.peers.find(std::minmax(a_, b_));
    if (--peers->second == 0) all.peers.erase(peers);
    return 0;
  });
}

Stream::Implementation::Implementation(int device)
    : device(device), core(take_core(device)), worker(std::vector<int>{core}) {}

Stream::Implementation::~Implementation() {
  with_devices([&](Devices& all) { return --all.streams_of_core[core]; });
}

Stream::Stream(int device) {
  detail::check_device(device);
  implementation_ = std::make_unique<Implementation>(device);
}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

int Stream::device() const { return implementation_->device; }

void Stream::synchronize() {
  implementation_->worker.drain();
  const std::exception_ptr failure = implementation_->worker.take_failure();
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const CallError&) {
    throw;
  } catch (const std::exception& exception) {
    throw CallError("host backend", "work on device " + std::to_string(device()), exception.what(), __FILE__,
                    __LINE__);
  }
}

struct Event::Implementation {
  struct State {
    host::Counter reached;
    std::atomic<std::int64_t> time_ns{0};
  };
  std::shared_ptr<State> state = std::make_shared<State>();
  std::uint64_t recorded = 0;
};

Event::Event(int device) : implementation_(std::make_unique<Implementation>()) {
  detail::check_device(device);
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

void Event::record(Stream& stream) {
  auto mark = [state = implementation_->state, ticket = ++implementation_->recorded] {
    state->time_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    state->reached.raise(ticket);
  };
  stream.implementation().worker.push(host::Task(host::Task::Kind::mark, std::move(mark)));
}

void Event::synchronize() { implementation_->state->reached.wait(implementation_->recorded); }

double Event::seconds_since(const Event& earlier) const {
  for (const Implementation* event : {implementation_.get(), earlier.implementation_.get()})
    if (event->recorded == 0 || event->state->reached.value() < event->recorded)
      throw CallError("host backend", "Event::seconds_since", "an event was not reached yet", __FILE__,
                      __LINE__);
  return 1e-9 *
         static_cast<double>(implementation_->state->time_ns - earlier.implementation_->state->time_ns);
}

void Stream::wait(const Event& event) {
  auto mark = [state = event.implementation().state, ticket = event.implementation().recorded] {
    state->reached.wait(ticket);
  };
  implementation_->worker.push(host::Task(host::Task::Kind::mark, std::move(mark)));
}

void copy(Stream& stream, Place destination, Place source, std::size_t size_bytes) {
  detail::check_place("destination", destination, size_bytes);
  detail::check_place("source", source, size_bytes);
  std::byte* to = destination.address();
  const std::byte* from = source.address();
  Stream::Implementation& queue = stream.implementation();
  using host::Task;
  const bool staged = detail::between_devices(destination, source) &&
                      !have_peer_access(destination.buffer->device(), source.buffer->device());
  if (!staged) {
    queue.worker.push(Task(Task::Kind::work, [=] { std::memcpy(to, from, size_bytes); }));
    return;
  }
  if (!queue.staging) queue.staging.emplace(Memory::pinned, queue.device, staging_bytes);
  std::byte* staging = queue.staging->as<std::byte>();
  queue.worker.push(Task(Task::Kind::work, [=] { copy_staged(to, from, size_bytes, staging); }));
}

}  // namespace weft
