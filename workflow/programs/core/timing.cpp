#include "core/timing.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <thread>

namespace weft {
namespace {

/// The start and the end of a lane's part, in its stream.
struct Marks {
  explicit Marks(int device) : device(device), start(device), end(device) {}
  int device;
  Event start, end;
};

double span_s(const std::vector<Marks>& marks) {
  double longest_s = 0;
  for (const Marks& first : marks)
    for (const Marks& last : marks)
      if (first.device == last.device || backend() == Backend::host)
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

/// How many operations of each lane the busiest device can queue; 0: not even one.
std::size_t operations_behind_gate(const std::vector<Lane>& lanes) {
  constexpr std::size_t own_calls = 3;  // the gate and two events
  struct Load {
    std::size_t own_calls = 0, calls_per_operation = 0;
  };
  std::map<int, Load> loads;
  for (const Lane& lane : lanes) {
    Load& load = loads[lane.stream->device()];
    load.own_calls += own_calls;
    load.calls_per_operation += lane.calls_per_operation;
  }
  std::size_t operations = gate_depth();
  for (const auto& [device, load] : loads) {
    const std::size_t room = gate_depth() - std::min(gate_depth(), load.own_calls);
    operations = std::min(operations, room / load.calls_per_operation);
  }
  return operations;
}

}  // namespace

double time_lanes(const std::vector<Lane>& lanes, std::size_t operations, bool gated) {
  const std::size_t batch = gated ? operations_behind_gate(lanes) : 0;
  std::vector<Marks> marks = make_marks(lanes);
  if (batch == 0) {
    if (lanes.size() == 1)
      feed_lane(lanes.front(), marks.front(), operations);
    else
      feed_from_threads(lanes, marks, operations);
    return span_s(marks);
  }
  // In equal parts: a small rest would be mostly what a gate costs.
  const std::size_t batches = std::max<std::size_t>(1, (operations + batch - 1) / batch);
  double time_s = 0;
  for (std::size_t part = 0; part < batches; ++part) {
    feed_gated(lanes, marks, part * operations / batches, (part + 1) * operations / batches);
    time_s += span_s(marks);
  }
  return time_s;
}

double GraphedLanes::time(std::size_t operations) {
  if (operations != operations_) {
    operations_ = 0;
    launches_.clear();
    graphs_.clear();
    graphs_.reserve(lanes_.size());
    for (const Lane& lane : lanes_) {
      graphs_.emplace_back(*lane.stream, [&] {
        for (std::size_t i = 0; i < operations; ++i)
          lane.enqueue(i);
      });
      launches_.push_back({lane.stream, [&graph = graphs_.back()](std::size_t) { graph.launch(); }});
    }
    operations_ = operations;
  }
  return time_lanes(launches_, 1);
}

}  // namespace weft
