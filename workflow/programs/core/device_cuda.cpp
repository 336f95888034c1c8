// CUDA backend: devices, peer access, streams, events and copies.
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>

#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {
namespace {

/// Kernels to be loaded before use, and how many of them each device has.
struct Kernels {
  std::mutex mutex;
  std::vector<const void*> addresses;
  std::map<int, std::size_t> loaded;
};

Kernels& kernels() {
  static Kernels all;
  return all;
}

void load_kernels(int device) {
  std::lock_guard lock(kernels().mutex);
  std::size_t& loaded = kernels().loaded[device];
  for (; loaded < kernels().addresses.size(); ++loaded) {
    cudaFuncAttributes attributes;
    WEFT_CUDA(cudaFuncGetAttributes(&attributes, kernels().addresses[loaded]));
  }
}

/// Peer access of a pair: how many want it, and in which directions this process enabled it and so has to
/// disable it.
struct Peers {
  int users = 0;
  bool forth = false, back = false;
};

std::mutex peers_mutex;
std::map<std::pair<int, int>, Peers> peers_of_pair;

/// Whether it was enabled here; false when it was already, by a library such as NCCL.
bool enable_peer(int device, int peer) {
  const DeviceGuard guard(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  WEFT_CUDA(status);
  return true;
}

std::string format_uuid(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte;
  }
  return text;
}

}  // namespace

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // else the next check would blame another call for it
  throw CallError("CUDA", call, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status),
                  file, line);
}

void report_cuda(cudaError_t status, const char* call, const char* file, int line) noexcept {
  if (status != cudaSuccess) report_call("CUDA", call, cudaGetErrorString(status), file, line);
}

DeviceGuard::DeviceGuard(int device) : device_(device) {
  WEFT_CUDA(cudaGetDevice(&previous_));
  if (previous_ != device_) WEFT_CUDA(cudaSetDevice(device_));
}

DeviceGuard::~DeviceGuard() {
  if (previous_ != device_) WEFT_CUDA_REPORT(cudaSetDevice(previous_));
}

Backend backend() { return Backend::cuda; }

void set_host_devices(int) {
  throw UsageError("--host-devices is for the host backend, but this program was built for CUDA.");
}

int device_count() {
  static const int count = [] {
    int found = 0;
    const cudaError_t status = cudaGetDeviceCount(&found);
    if (status != cudaSuccess || found == 0)
      throw UsageError(std::string("No CUDA device can be used here (") + cudaGetErrorString(status) +
                       "); a build for the host backend runs without one.");
    return found;
  }();
  return count;
}

namespace {

DeviceProperties read_properties(int device) {
  cudaDeviceProp seen;
  WEFT_CUDA(cudaGetDeviceProperties(&seen, device));
  char bus_id[32];
  WEFT_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));

  DeviceProperties properties;
  properties.device = device;
  properties.name = seen.name;
  properties.uuid = format_uuid(seen.uuid);
  std::string pci_bus_id = bus_id;
  for (char& letter : pci_bus_id)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  properties.pci_bus_id = pci_bus_id;
  properties.compute_capability = std::to_string(seen.major) + "." + std::to_string(seen.minor);
  properties.multiprocessors = seen.multiProcessorCount;
  properties.memory_bytes = seen.totalGlobalMem;
  return properties;
}

}  // namespace

DeviceProperties device_properties(int device) {
  detail::check_device(device);
  static std::mutex mutex;
  static std::map<int, DeviceProperties> known;  // asking costs milliseconds
  const std::lock_guard lock(mutex);
  auto found = known.find(device);
  if (found == known.end()) found = known.emplace(device, read_properties(device)).first;
  return found->second;
}

bool can_access_peer(int device, int peer) {
  detail::check_device(device);
  detail::check_device(peer);
  if (device == peer) return true;
  int can = 0;
  WEFT_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
  return can != 0;
}

bool has_peer_atomics(int device, int peer) {
  detail::check_device(device);
  detail::check_device(peer);
  if (device == peer) return true;
  int has = 0;
  WEFT_CUDA(cudaDeviceGetP2PAttribute(&has, cudaDevP2PAttrNativeAtomicSupported, device, peer));
  return has != 0;
}

PeerAccess::PeerAccess(int a, int b) : a_(std::min(a, b)), b_(std::max(a, b)) {
  if (!can_access_peer(a_, b_) || !can_access_peer(b_, a_))
    throw Unsupported("devices " + std::to_string(a_) + " and " + std::to_string(b_) +
                      " have no peer access to each other");
  if (a_ == b_) return;
  std::lock_guard lock(peers_mutex);
  Peers& peers = peers_of_pair[{a_, b_}];
  if (peers.users == 0) {
    peers.forth = enable_peer(a_, b_);
    peers.back = enable_peer(b_, a_);
  }
  ++peers.users;
}

PeerAccess::~PeerAccess() {
  if (a_ == b_) return;
  std::lock_guard lock(peers_mutex);
  Peers& peers = peers_of_pair[{a_, b_}];
  if (--peers.users > 0) return;
  if (peers.forth) {
    const DeviceGuard guard(a_);
    WEFT_CUDA_REPORT(cudaDeviceDisablePeerAccess(b_));
  }
  if (peers.back) {
    const DeviceGuard guard(b_);
    WEFT_CUDA_REPORT(cudaDeviceDisablePeerAccess(a_));
  }
}

bool preload_kernel_address(const void* kernel) {
  std::lock_guard lock(kernels().mutex);
  kernels().addresses.push_back(kernel);
  return true;
}

Stream::Implementation::Implementation(int device) : device(device) {
  const DeviceGuard guard(device);
  load_kernels(device);
  WEFT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  WEFT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
}

Stream::Implementation::~Implementation() { WEFT_CUDA_REPORT(cudaStreamDestroy(stream)); }

Stream::Stream(int device) {
  detail::check_device(device);
  implementation_ = std::make_unique<Implementation>(device);
}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

int Stream::device() const { return implementation_->device; }

void Stream::synchronize() { WEFT_CUDA(cudaStreamSynchronize(implementation_->stream)); }

struct Event::Implementation {
  explicit Implementation(int device) : device(device) {
    const DeviceGuard guard(device);
    WEFT_CUDA(cudaEventCreate(&event));
  }
  ~Implementation() { WEFT_CUDA_REPORT(cudaEventDestroy(event)); }

  int device;
  cudaEvent_t event = nullptr;
};

Event::Event(int device) {
  detail::check_device(device);
  implementation_ = std::make_unique<Implementation>(device);
}
Event::~Event() = default;
Event::Event(Event&&) noexcept = default;
Event& Event::operator=(Event&&) noexcept = default;

void Event::record(Stream& stream) { WEFT_CUDA(cudaEventRecord(implementation_->event, native(stream))); }

void Event::synchronize() { WEFT_CUDA(cudaEventSynchronize(implementation_->event)); }

double Event::seconds_since(const Event& earlier) const {
  float time_ms = 0;
  WEFT_CUDA(cudaEventElapsedTime(&time_ms, earlier.implementation_->event, implementation_->event));
  return 1e-3 * static_cast<double>(time_ms);
}

void Stream::wait(const Event& event) {
  const DeviceGuard guard(device());
  WEFT_CUDA(cudaStreamWaitEvent(implementation_->stream, event.implementation().event, 0));
}

void copy(Stream& stream, Place destination, Place source, std::size_t size_bytes) {
  detail::check_place("destination", destination, size_bytes);
  detail::check_place("source", source, size_bytes);
  if (size_bytes == 0) return;
  const DeviceGuard guard(stream.device());
  // A graph has no node for a copy that names its devices; with peer access the addresses say as much.
  if (detail::between_devices(destination, source) && !stream.implementation().capturing) {
    WEFT_CUDA(cudaMemcpyPeerAsync(destination.address(), destination.buffer->device(), source.address(),
                                  source.buffer->device(), size_bytes, native(stream)));
  } else {
    WEFT_CUDA(cudaMemcpyAsync(destination.address(), source.address(), size_bytes, cudaMemcpyDefault,
                              native(stream)));
  }
}

}  // namespace weft
