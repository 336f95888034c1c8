// The device layer: one interface, two backends (device_cuda.hpp, device_host.hpp), chosen when the programs
// are built.
//
// A host "device" is an arena of host memory with a worker per stream, pinned to the device's own cores; its
// copies are memcpy by that worker, its kernels a loop over the index space. Everything that both backends
// promise is tested by tests/programs/device_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#if WEFT_BACKEND_CUDA
#define WEFT_HOST_DEVICE __host__ __device__
#else
#define WEFT_HOST_DEVICE
#endif

namespace weft {

enum class Backend { cuda, host };
Backend backend();
const char* to_string(Backend backend);  // "cuda", "host"

/// Host backend: sets the number of devices, 1 to 256, before first use; the default is 4, or one per NUMA
/// node where there are more. UsageError for another number, after first use, and with the cuda backend.
void set_host_devices(int count);
/// UsageError where the cuda backend finds no GPU.
int device_count();

struct DeviceProperties {
  int device = 0;
  std::string name;
  std::optional<std::string> uuid, pci_bus_id, compute_capability;
  std::optional<int> multiprocessors;
  std::uint64_t memory_bytes = 0;
  std::vector<int>
      cores;  ///< host backend: each of its streams has one of these to itself while there are enough
};
DeviceProperties device_properties(int device);

/// Whether kernels and copies on `device` may address memory of `peer`; always of itself.
bool can_access_peer(int device, int peer);
/// Whether kernels on `device` may change memory of `peer` atomically, given peer access; always of itself.
bool has_peer_atomics(int device, int peer);

/// Peer access in both directions between two devices while it lives; nested uses are counted. Throws
/// Unsupported when the platform has none. Without it a copy between devices is staged through host memory.
/// Host backend: only copies heed it, a functor can address all memory anyway.
class PeerAccess {
 public:
  PeerAccess(int a, int b);
  ~PeerAccess();
  PeerAccess(PeerAccess&&) noexcept;
  PeerAccess& operator=(PeerAccess&&) = delete;

 private:
  int a_, b_;
};

enum class Memory { device, pinned, pageable };
const char* to_string(Memory memory);

/// A library's own memory of devices. `take` gives null when there is no room.
struct DeviceAllocator {
  void* (*take)(int device, std::size_t size_bytes);
  void (*give_back)(void* data) noexcept;
};

/// Memory on a device, or host memory on its NUMA node. Host backend: device and pinned memory are large
/// pages where the kernel grants them, pinned memory is locked where the process may (ulimit -l); pageable
/// memory is malloc'ed and new. A buffer must outlive the work that uses it: synchronise the stream, or
/// declare it after the buffers.
class Buffer {
 public:
  /// `size_bytes` > 0. Throws Unsupported when there is no room for it.
  Buffer(Memory memory, int device, std::size_t size_bytes);
  /// Memory of the device from `allocator`.
  Buffer(int device, std::size_t size_bytes, const DeviceAllocator& allocator);
  ~Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t size_bytes() const { return size_bytes_; }
  Memory memory() const { return memory_; }
  int device() const { return device_; }

 private:
  void* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  Memory memory_ = Memory::device;
  int device_ = 0;
  void (*give_back_)(void* data) noexcept = nullptr;  ///< null: the backend's own
};

class Event;

/// A queue of work on a device, in order.
class Stream {
 public:
  explicit Stream(int device);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  int device() const;
  /// Blocks the host until all work is done; throws CallError when work failed. Host backend: work after the
  /// failure was dropped, and the stream is usable again.
  void synchronize();
  /// Later work waits for the event as it was last recorded; not at all when it never was.
  void wait(const Event& event);

  struct Implementation;
  Implementation& implementation() const { return *implementation_; }

 private:
  std::unique_ptr<Implementation> implementation_;
};

/// A point in a stream, with its time.
class Event {
 public:
  explicit Event(int device);
  ~Event();
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;

  void record(Stream& stream);
  void synchronize();
  /// Seconds from `earlier` to this event; same device (host backend: any). Throws CallError when one is not
  /// reached.
  double seconds_since(const Event& earlier) const;

  struct Implementation;
  Implementation& implementation() const { return *implementation_; }

 private:
  std::unique_ptr<Implementation> implementation_;
};

/// Where bytes lie: a buffer and an offset into it.
struct Place {
  const Buffer* buffer;
  std::size_t offset_bytes = 0;
  std::byte* address() const { return buffer->as<std::byte>() + offset_bytes; }
};

/// Enqueues a copy by the copy engine of the stream's device (host backend: memcpy by the stream's worker).
/// Between two devices without PeerAccess the copy is staged through host memory. CUDA: that, and a copy from
/// or to pageable memory, may block the host until the stream gets there, so neither belongs behind a gate.
/// Throws std::out_of_range when the bytes are not inside the buffers.
void copy(Stream& stream, Place destination, Place source, std::size_t size_bytes);

/// Copies and launches of one stream, kept to be started together, as often as one likes: the host hands over
/// a batch with one call. Host backend: the stream's worker takes the batch as one task.
class Graph {
 public:
  /// Keeps what `enqueue` puts into the stream: copies and launches alone, and no copies that the driver
  /// stages through host memory. Nothing of it runs yet. Throws what `enqueue` throws.
  Graph(Stream& stream, const std::function<void()>& enqueue);
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  /// Enqueues all of it, in its order, in the stream that it was taken from.
  void launch();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Holds streams at a start line until opened, so that launch cost stays out of the timed region and streams
/// of several devices start together. A held stream gives up after `timeout_s`; open() or check() then throws
/// a CallError that explains the likely deadlock: the host blocked on work that waits behind the gate (a full
/// launch queue, a lazy load, an implicit sync).
class Gate {
 public:
  explicit Gate(double timeout_s = 10.0);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Enqueues the wait.
  void hold(Stream& stream);
  /// Lets all held streams go.
  void open();
  /// After the streams were synchronised: throws when one of them timed out.
  void check() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// How many calls (copies, launches, records, waits) may be queued on a device behind a closed gate.
std::size_t gate_depth();

}  // namespace weft

// Runs `functor(i)` for every i in [0, count) on the stream's device: the body of every kernel of Weft. The
// functor is trivially copyable, at most 88 bytes, and WEFT_HOST_DEVICE. CUDA: a grid-stride loop that fills
// the device; host: a loop on the stream's worker.
//   template <class Functor> void weft::launch(Stream& stream, std::size_t count, Functor functor);
#if WEFT_BACKEND_CUDA
#include "core/device_cuda.hpp"
#else
#include "core/device_host.hpp"
#endif
