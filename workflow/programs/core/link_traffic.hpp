// Bytes that cross the links of devices while operations run, as NVML counts them: what carried a payload.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/json.hpp"

namespace weft {

/// Where the counters of a device stand; what does not answer is empty.
struct LinkCounters {
  std::optional<std::uint64_t> nvlink_transmitted_bytes, nvlink_received_bytes;
  /// With what the protocol adds. Of 32 bits: after 4 GiB they begin again.
  std::optional<std::uint32_t> pcie_transmitted_bytes, pcie_received_bytes;
};

/// The counters of a device; all empty on the host backend, which has none.
LinkCounters read_link_counters(int device);

/// Reads the counters of devices in place of read_link_counters; empty: there are none. Tests replace it.
using ReadLinkCounters = std::function<LinkCounters(int device)>;
void set_link_counters(ReadLinkCounters read);
/// Whether there is anything to read with, alike in all processes of a program.
bool links_are_counted();

/// The devices that this process drives, for as long as this lives: those whose links the sampler watches
/// when it proves a path. The last one made counts.
class WatchedDevices {
 public:
  explicit WatchedDevices(std::vector<int> devices);
  ~WatchedDevices();
  WatchedDevices(const WatchedDevices&) = delete;
  WatchedDevices& operator=(const WatchedDevices&) = delete;

  static const std::vector<int>& now();

 private:
  std::vector<int> before_;
};

/// No PCIe link is faster: generation 6 with 16 lanes, 8 GB/s each. A counter of 4 GiB takes 34 ms to wrap.
constexpr double fastest_pcie_bytes_per_s = 128e9;
constexpr double pcie_wrap_s = 4294967296.0 / fastest_pcie_bytes_per_s;

/// Adds up what crosses the links of devices from when it is made until it is stopped. A thread of its own
/// reads the counters so often that those of PCIe cannot wrap unseen: not for use beside what is timed.
class LinkTraffic {
 public:
  /// Devices whose counters do not answer are left out. `certain_s`: readings of PCIe further apart than that
  /// say nothing.
  explicit LinkTraffic(const std::vector<int>& devices, double certain_s = pcie_wrap_s);
  ~LinkTraffic();
  LinkTraffic(const LinkTraffic&) = delete;
  LinkTraffic& operator=(const LinkTraffic&) = delete;

  /// Whether any device answered.
  bool counts() const { return !accounts_.empty(); }
  /// An object for each device: `device` and its bytes; those of PCIe are left out where two readings lay so
  /// far apart that a counter may have wrapped between them. Called once; rethrows what went wrong in
  /// reading.
  std::vector<Json> stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Account {
    int device;
    LinkCounters last;
    Clock::time_point last_began;  ///< the reading of `last`
    std::uint64_t nvlink_transmitted_bytes = 0, nvlink_received_bytes = 0, pcie_transmitted_bytes = 0,
                  pcie_received_bytes = 0;
    bool pcie_certain = true;
  };

  void follow();
  void end();
  void read(Account& account);

  double certain_s_;
  std::vector<Account> accounts_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace weft
