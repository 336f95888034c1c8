#include "core/timing.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

namespace weft {
namespace {

/// The start and the end of a lane's part, in its stream.
struct Marks {
  explicit Marks(int device) : start(device), end(device) {}
  Event start, end;
};

double span_s(const std::vector<Marks>& marks) {
  double longest_s = 0;
  for (const Marks& first : marks)
    for (const Marks& last : marks)
      if (&first == &last || backend() == Backend::host)
        longest_s = std::max(longest_s, last.end.seconds_since(first.start));
  return longest_s;
}

void feed_gated(const std::vector<Lane>& lanes, std::vector<Marks>& marks, std::size_t first,
                std::size_t last) {
  Gate gate;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    gate.hold(*lanes[lane].stream);
    marks[lane].start.record(*lanes[lane].stream);
  }
  for (std::size_t i = first; i < last; ++i)
    for (const Lane& lane : lanes)
      lane.enqueue(i);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    marks[lane].end.record(*lanes[lane].stream);
  gate.open();
  for (const Lane& lane : lanes)
    lane.stream->synchronize();
  gate.check();
}

void feed_lane(const Lane& lane, Marks& marks, std::size_t operations) {
  marks.start.record(*lane.stream);
  for (std::size_t i = 0; i < operations; ++i)
    lane.enqueue(i);
  marks.end.record(*lane.stream);
  lane.stream->synchronize();
}

void feed_from_threads(const std::vector<Lane>& lanes, std::vector<Marks>& marks, std::size_t operations) {
  std::atomic<std::size_t> ready{0};
  std::vector<std::exception_ptr> failures(lanes.size());
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    threads.emplace_back([&, lane] {
      ++ready;
      while (ready < lanes.size())
        std::this_thread::yield();
      try {
        feed_lane(lanes[lane], marks[lane], operations);
      } catch (...) {
        failures[lane] = std::current_exception();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

std::vector<Marks> make_marks(const std::vector<Lane>& lanes) {
  std::vector<Marks> marks;
  marks.reserve(lanes.size());
  for (const Lane& lane : lanes)
    marks.emplace_back(lane.stream->device());
  return marks;
}

}  // namespace

double time_lanes(const std::vector<Lane>& lanes, std::size_t operations, bool gated) {
  // The gate and the two events take places in the queue too.
  constexpr std::size_t own_calls = 3;
  std::size_t calls = 1;
  for (const Lane& lane : lanes)
    calls = std::max(calls, lane.calls_per_operation);
  const std::size_t batch = (gate_depth() - own_calls) / calls;

  std::vector<Marks> marks = make_marks(lanes);
  if (!gated || batch == 0) {
    if (lanes.size() == 1)
      feed_lane(lanes.front(), marks.front(), operations);
    else
      feed_from_threads(lanes, marks, operations);
    return span_s(marks);
  }
  double time_s = 0;
  for (std::size_t first = 0; first < operations; first += batch) {
    feed_gated(lanes, marks, first, std::min(operations, first + batch));
    time_s += span_s(marks);
  }
  return time_s;
}

}  // namespace weft
