// Timed lanes: every operation runs once on every lane, in order, whatever the batch; failures do not block.
#include <stdexcept>

#include "check.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"

using namespace weft;

namespace {

/// Sets the word to i + 1 when it was i: counts only operations that ran in order.
struct Advance {
  std::uint64_t* word;
  std::uint64_t i;
  WEFT_HOST_DEVICE void operator()(std::size_t) const {
    if (*word == i) *word = i + 1;
  }
};

/// A lane whose operations count themselves, seen through pinned memory.
struct CountingLane {
  Stream stream;
  Buffer word;
  explicit CountingLane(int device) : stream(device), word(Memory::pinned, device, sizeof(std::uint64_t)) {
    *word.as<std::uint64_t>() = 0;
  }
  Lane lane(std::size_t calls_per_operation = 1) {
    return {&stream, [this](std::size_t i) { launch(stream, 1, Advance{word.as<std::uint64_t>(), i}); },
            calls_per_operation};
  }
  std::uint64_t count() const { return *word.as<volatile std::uint64_t>(); }
};

}  // namespace

TEST(one_lane_runs_every_operation_in_order) {
  for (std::size_t operations : {std::size_t{1}, std::size_t{10}, gate_depth(), 3 * gate_depth() + 1}) {
    CountingLane one(0);
    CHECK(time_lanes({one.lane()}, operations) > 0);
    CHECK_EQ(one.count(), operations);
  }
}

TEST(all_lanes_run_every_operation_in_order) {
  for (bool gated : {true, false}) {
    CountingLane first(0), second(device_count() - 1), third(0);
    const std::size_t operations = gate_depth() + 7;
    CHECK(time_lanes({first.lane(), second.lane(), third.lane()}, operations, gated) > 0);
    CHECK_EQ(first.count(), operations);
    CHECK_EQ(second.count(), operations);
    CHECK_EQ(third.count(), operations);
  }
}

TEST(operations_too_deep_for_the_gate_run_without_it) {
  CountingLane first(0), second(device_count() - 1);
  CHECK(time_lanes({first.lane(gate_depth())}, 5) > 0);
  CHECK_EQ(first.count(), 5u);
  CountingLane third(0);
  CHECK(time_lanes({second.lane(2 * gate_depth()), third.lane()}, 5) > 0);
  CHECK_EQ(second.count() + third.count(), 10u);
}

TEST(graphed_lanes_run_every_operation_in_order_each_time) {
  CountingLane first(0), second(device_count() - 1);
  // A graph keeps the operations' numbers, and each of them advances its word once.
  GraphedLanes lanes({first.lane(), second.lane()});
  for (const std::size_t operations : {3u, 3u, 700u, 5u}) {
    *first.word.as<std::uint64_t>() = *second.word.as<std::uint64_t>() = 0;
    CHECK(lanes.time(operations) > 0);
    CHECK_EQ(first.count(), operations);
    CHECK_EQ(second.count(), operations);
  }
}

TEST(graphed_lanes_that_could_not_be_made_are_made_anew) {
  CountingLane counting(0);
  bool broken = true;
  Lane lane = counting.lane();
  lane.enqueue = [&broken, enqueue = lane.enqueue](std::size_t i) {
    if (broken && i == 3) throw std::runtime_error("operation 3 cannot be enqueued");
    enqueue(i);
  };
  GraphedLanes lanes({lane});
  CHECK_THROWS(lanes.time(5), std::runtime_error);
  CHECK_EQ(counting.count(), 0u);
  broken = false;
  CHECK(lanes.time(5) > 0);
  CHECK_EQ(counting.count(), 5u);
}

TEST(a_lane_that_throws_blocks_nobody) {
  for (bool gated : {true, false}) {
    CountingLane good(0);
    Stream stream(device_count() - 1);
    const Lane bad{&stream, [](std::size_t i) {
                     if (i == 3) throw std::runtime_error("operation 3 cannot be enqueued");
                   }};
    CHECK_THROWS(time_lanes({good.lane(), bad}, 10, gated), std::runtime_error);
    good.stream.synchronize();
    CHECK(good.count() >= 3);
  }
}
