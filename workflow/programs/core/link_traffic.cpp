#include "core/link_traffic.hpp"

#include <utility>

#include "core/device.hpp"

namespace weft {

namespace {

constexpr std::chrono::milliseconds interval{5};

ReadLinkCounters& reader() {
  static ReadLinkCounters read = backend() == Backend::cuda ? read_link_counters : ReadLinkCounters();
  return read;
}

std::vector<int>& watched() {
  static std::vector<int> devices;
  return devices;
}

bool answers(const LinkCounters& counters) {
  return counters.nvlink_transmitted_bytes || counters.nvlink_received_bytes ||
         counters.pcie_transmitted_bytes || counters.pcie_received_bytes;
}

/// What a counter went on by; its own width makes the difference right beyond its end.
template <class Counter>
void add(std::uint64_t& total, const std::optional<Counter>& before, const std::optional<Counter>& after) {
  if (before && after) total += static_cast<Counter>(*after - *before);
}

}  // namespace

void set_link_counters(ReadLinkCounters read) { reader() = std::move(read); }

WatchedDevices::WatchedDevices(std::vector<int> devices)
    : before_(std::exchange(watched(), std::move(devices))) {}

WatchedDevices::~WatchedDevices() { watched() = std::move(before_); }

bool links_are_counted() { return static_cast<bool>(reader()); }

const std::vector<int>& WatchedDevices::now() { return watched(); }

LinkTraffic::LinkTraffic(const std::vector<int>& devices, double certain_s) : certain_s_(certain_s) {
  for (const int device : devices) {
    Account account{};
    account.device = device;
    account.last_began = Clock::now();
    account.last = reader()(device);
    if (answers(account.last)) accounts_.push_back(account);
  }
  if (counts()) thread_ = std::thread([this] { follow(); });
}

LinkTraffic::~LinkTraffic() { end(); }

void LinkTraffic::follow() {
  std::unique_lock lock(mutex_);
  try {
    while (!wake_.wait_for(lock, interval, [this] { return stopping_; }))
      for (Account& account : accounts_)
        read(account);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void LinkTraffic::read(Account& account) {
  const auto began = Clock::now();
  const LinkCounters now = reader()(account.device);
  const std::chrono::duration<double> apart = Clock::now() - account.last_began;
  add(account.nvlink_transmitted_bytes, account.last.nvlink_transmitted_bytes, now.nvlink_transmitted_bytes);
  add(account.nvlink_received_bytes, account.last.nvlink_received_bytes, now.nvlink_received_bytes);
  add(account.pcie_transmitted_bytes, account.last.pcie_transmitted_bytes, now.pcie_transmitted_bytes);
  add(account.pcie_received_bytes, account.last.pcie_received_bytes, now.pcie_received_bytes);
  account.pcie_certain = account.pcie_certain && apart.count() < certain_s_;
  account.last = now;
  account.last_began = began;
}

void LinkTraffic::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<Json> LinkTraffic::stop() {
  end();
  if (failure_) std::rethrow_exception(failure_);
  std::vector<Json> devices;
  for (Account& account : accounts_) {
    read(account);
    Json entry = Json::object({{"device", account.device}});
    const auto set = [&](const char* name, bool told, std::uint64_t bytes) {
      if (told) entry.set(name, bytes);
    };
    const LinkCounters& last = account.last;
    set("nvlink_transmitted_bytes", last.nvlink_transmitted_bytes.has_value(),
        account.nvlink_transmitted_bytes);
    set("nvlink_received_bytes", last.nvlink_received_bytes.has_value(), account.nvlink_received_bytes);
    set("pcie_transmitted_bytes", account.pcie_certain && last.pcie_transmitted_bytes.has_value(),
        account.pcie_transmitted_bytes);
    set("pcie_received_bytes", account.pcie_certain && last.pcie_received_bytes.has_value(),
        account.pcie_received_bytes);
    devices.push_back(std::move(entry));
  }
  return devices;
}

}  // namespace weft
