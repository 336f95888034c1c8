// What crossed the links while operations ran: sums beyond a counter's end, what is not certain, and the
// operations that the sampler runs to see it.
#include <atomic>

#include "check.hpp"
#include "core/device.hpp"
#include "core/link_traffic.hpp"
#include "core/sampler.hpp"

using weft::Json;
using weft::LinkCounters;
using weft::LinkTraffic;
using weft::SamplerOptions;
using weft::Team;
using weft::TimeSummary;
using weft::WatchedDevices;

namespace {

/// Counters that stand where the test sets them, for as long as this lives.
struct Counters {
  std::atomic<std::uint64_t> nvlink_bytes{0}, pcie_bytes{0};
  std::atomic<int> asked{0};

  Counters() {
    weft::set_link_counters([this](int device) {
      ++asked;
      LinkCounters counters;
      if (device == 9) return counters;  // a device that NVML says nothing of
      counters.nvlink_transmitted_bytes = nvlink_bytes;
      counters.pcie_received_bytes = static_cast<std::uint32_t>(pcie_bytes);
      return counters;
    });
  }
  ~Counters() { weft::set_link_counters({}); }

  void wait_for_a_reading() const {
    for (const int before = asked; asked == before;)
      std::this_thread::yield();
  }
};

std::string dumped(const std::vector<Json>& values) { return Json(values).dump(); }

constexpr std::uint64_t gib = 1ull << 30;

}  // namespace

TEST(traffic_is_what_the_counters_went_on_by) {
  Counters counters;
  counters.nvlink_bytes = 5000;
  counters.pcie_bytes = 70;
  LinkTraffic traffic({3}, 1e9);
  counters.nvlink_bytes += 4096;
  counters.pcie_bytes += 30;
  CHECK_EQ(dumped(traffic.stop()),
           R"([{"device":3,"nvlink_transmitted_bytes":4096,"pcie_received_bytes":30}])");
}

TEST(a_pcie_counter_that_begins_again_is_added_up) {
  Counters counters;
  counters.pcie_bytes = 4 * gib - 10;
  LinkTraffic traffic({0}, 1e9);
  for (int i = 0; i < 3; ++i) {  // 9 GiB, read often enough
    counters.pcie_bytes += 3 * gib;
    counters.wait_for_a_reading();
    counters.wait_for_a_reading();  // the reading that had begun before may not have seen it
  }
  CHECK_EQ(dumped(traffic.stop()),
           R"([{"device":0,"nvlink_transmitted_bytes":0,"pcie_received_bytes":9663676416}])");
}

TEST(a_pcie_counter_that_may_have_wrapped_unseen_says_nothing) {
  Counters counters;
  LinkTraffic traffic({0}, 0);  // no two readings are near enough
  counters.pcie_bytes += 5 * gib;
  CHECK_EQ(dumped(traffic.stop()), R"([{"device":0,"nvlink_transmitted_bytes":0}])");
}

TEST(a_device_that_does_not_answer_is_left_out) {
  Counters counters;
  LinkTraffic some({9, 1}, 1e9);
  CHECK(some.counts());
  CHECK_EQ(dumped(some.stop()), R"([{"device":1,"nvlink_transmitted_bytes":0,"pcie_received_bytes":0}])");
  LinkTraffic none({9}, 1e9);
  CHECK(!none.counts());
  CHECK_EQ(none.stop().size(), 0u);
}

TEST(the_sampler_proves_the_path_with_operations_of_its_own) {
  Counters counters;
  std::uint64_t operations = 0;
  Team alone;
  SamplerOptions options;
  options.budget_s = 1e12;
  const WatchedDevices watched({2});
  double now_s = 0;
  const TimeSummary summary = weft::sample(
      options,
      [&](std::size_t count) {
        operations += count;
        counters.nvlink_bytes += 1024 * count;
        now_s += 1e-3 * static_cast<double>(count);
        return 1e-3 * static_cast<double>(count);
      },
      alone, [&] { return now_s; });
  CHECK_EQ(summary.proof.operations, 10u);  // of a millisecond each
  CHECK_EQ(summary.operations_total, operations);
  CHECK_EQ(summary.proof.devices.size(), 1u);
  CHECK_EQ(summary.proof.devices.front().find("device")->dump(), "2");
  CHECK_EQ(summary.proof.devices.front().find("nvlink_transmitted_bytes")->dump(), "10240");
}

TEST(an_operation_longer_than_the_proof_runs_once_more) {
  Counters counters;
  Team alone;
  SamplerOptions options;
  options.max_samples = 3;
  const WatchedDevices watched({0});
  const TimeSummary summary = weft::sample(
      options, [](std::size_t count) { return 0.2 * static_cast<double>(count); }, alone, [] { return 0.; });
  CHECK_EQ(summary.proof.operations, 1u);
}

TEST(short_operations_are_many) {
  Counters counters;
  Team alone;
  SamplerOptions options;
  options.max_samples = 3;
  const WatchedDevices watched({0});
  const auto proven = [&](double operation_s) {
    const TimeSummary summary = weft::sample(
        options, [&](std::size_t count) { return operation_s * static_cast<double>(count); }, alone,
        [] { return 0.; });
    return summary.proof.operations;
  };
  CHECK(proven(1e-6) >= 5000 && proven(1e-6) < 5100);    // 5 ms
  CHECK(proven(3e-6) >= 2500 && proven(3e-6) < 2600);    // 7.5 ms
  CHECK(proven(100e-6) >= 100 && proven(100e-6) < 110);  // 10 ms
}

TEST(nothing_is_proven_where_nothing_counts_or_nobody_asks) {
  Team alone;
  SamplerOptions options;
  options.max_samples = 3;
  const auto batch = [](std::size_t count) { return 0.2 * static_cast<double>(count); };
  const auto clock = [] { return 0.; };
  const WatchedDevices watched({9});
  Counters counters;
  const TimeSummary silent = weft::sample(options, batch, alone, clock);
  CHECK_EQ(silent.proof.operations, 0u);
  const WatchedDevices answering({1});
  options.prove_path = false;
  CHECK_EQ(weft::sample(options, batch, alone, clock).operations_total, silent.operations_total);
}

TEST(the_devices_watched_before_are_watched_again) {
  const WatchedDevices outer({0, 1});
  {
    const WatchedDevices inner({5});
    CHECK_EQ(WatchedDevices::now().front(), 5);
  }
  CHECK_EQ(WatchedDevices::now().size(), 2u);
}
