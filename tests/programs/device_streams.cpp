// What both backends of the device layer promise of streams, events and launches: order, times, waiting.
#include <chrono>
#include <cstring>
#include <thread>

#include "check.hpp"
#include "core/error.hpp"
#include "device_bytes.hpp"

using namespace weft;

namespace {

struct CountVisit {
  unsigned* visits;
  WEFT_HOST_DEVICE void operator()(std::size_t i) const { ++visits[i]; }
};

}  // namespace

TEST(work_in_a_stream_runs_in_order) {
  constexpr std::size_t size = 100000;
  std::vector<Buffer> ring;
  for (int i = 0; i < 3; ++i)
    ring.emplace_back(Memory::device, i % 2 == 0 ? 0 : second_device(), size);
  for (int i = 0; i < 3; ++i)
    write(ring[i], counting_bytes(size, 10 * i));
  Stream stream(0);
  for (int i = 0; i < 99; ++i)
    copy(stream, {&ring[(i + 1) % 3]}, {&ring[i % 3]}, size);
  stream.synchronize();
  for (const Buffer& buffer : ring)
    CHECK(read_back(buffer) == counting_bytes(size, 0));
}

TEST(launch_visits_every_index_once) {
  constexpr std::size_t capacity = 1000100;
  const Buffer visits(Memory::device, second_device(), capacity * sizeof(unsigned));
  for (std::size_t count : {0, 1, 31, 255, 256, 257, 65537, 1000003}) {
    write(visits, Bytes(visits.size_bytes(), 0));
    Stream stream(second_device());
    launch(stream, count, CountVisit{visits.as<unsigned>()});
    stream.synchronize();
    const Bytes bytes = read_back(visits);
    for (std::size_t i = 0; i < capacity; ++i) {
      unsigned seen;
      std::memcpy(&seen, bytes.data() + i * sizeof seen, sizeof seen);
      CHECK_EQ(seen, i < count ? 1u : 0u);
    }
  }
}

TEST(events_tell_time_in_the_order_of_the_stream) {
  const Buffer a(Memory::device, 0, 8 << 20), b(Memory::device, 0, 8 << 20);
  Stream stream(0);
  Event first(0), second(0), third(0);
  first.record(stream);
  copy(stream, {&b}, {&a}, a.size_bytes());
  second.record(stream);
  for (int i = 0; i < 10; ++i)
    copy(stream, {&b}, {&a}, a.size_bytes());
  third.record(stream);
  third.synchronize();
  const double one_s = second.seconds_since(first), eleven_s = third.seconds_since(first);
  CHECK(one_s > 0);
  CHECK(eleven_s > one_s);
  CHECK(std::abs(one_s + third.seconds_since(second) - eleven_s) < 5e-6);
}

TEST(an_event_not_yet_recorded_has_no_time) {
  const Event never(0), either(0);
  CHECK_THROWS(never.seconds_since(either), CallError);
}

TEST(an_event_can_be_recorded_again) {
  Stream stream(0);
  Event start(0), mark(0);
  start.record(stream);
  mark.record(stream);
  stream.synchronize();
  const double once_s = mark.seconds_since(start);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  mark.record(stream);
  mark.synchronize();
  CHECK(mark.seconds_since(start) > once_s);
}

TEST(a_stream_waits_for_an_event_of_another_device) {
  constexpr std::size_t size = 1 << 20;
  const Buffer source(Memory::device, 0, size), destination(Memory::device, second_device(), size);
  write(source, counting_bytes(size, 1));
  write(destination, counting_bytes(size, 2));
  const Buffer scratch(Memory::device, 0, size);
  write(scratch, counting_bytes(size, 3));
  Stream producer(0), consumer(second_device());
  Event produced(0);
  Gate gate;
  gate.hold(producer);
  copy(producer, {&source}, {&scratch}, size);
  produced.record(producer);
  consumer.wait(produced);
  // Staged by the driver, this copy may block the host: it is enqueued once the gate is open.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gate.open();
  copy(consumer, {&destination}, {&source}, size);
  consumer.synchronize();
  producer.synchronize();
  CHECK(read_back(destination) == counting_bytes(size, 3));
}

TEST(waiting_holds_a_stream_back) {
  SharedWord word(0);
  Stream producer(0), consumer(second_device());
  Event produced(0);
  Gate gate;
  gate.hold(producer);
  produced.record(producer);
  consumer.wait(produced);
  launch(consumer, 1, Store{word.buffer.as<unsigned>(), 7});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(word.value(), 0u);
  gate.open();
  consumer.synchronize();
  CHECK_EQ(word.value(), 7u);
}

TEST(waiting_for_an_event_never_recorded_does_not_wait) {
  SharedWord word(0);
  const Event never(0);
  Stream stream(0);
  stream.wait(never);
  launch(stream, 1, Store{word.buffer.as<unsigned>(), 3});
  stream.synchronize();
  CHECK_EQ(word.value(), 3u);
}

TEST(streams_that_wait_for_each_other_in_turn_do_not_block) {
  constexpr unsigned rounds = 500;
  SharedWord word(0);
  Stream streams[2] = {Stream(0), Stream(second_device())};
  std::vector<Event> events;
  for (unsigned round = 0; round < rounds; ++round) {
    Stream& stream = streams[round % 2];
    if (round > 0) stream.wait(events.back());
    launch(stream, 1, Store{word.buffer.as<unsigned>(), round});
    events.emplace_back(stream.device());
    events.back().record(stream);
  }
  streams[0].synchronize();
  streams[1].synchronize();
  CHECK_EQ(word.value(), rounds - 1);
}

TEST(streams_and_events_move) {
  SharedWord word(0);
  Stream first(0);
  launch(first, 1, Store{word.buffer.as<unsigned>(), 1});
  Stream second(std::move(first));
  Event start(0);
  start.record(second);
  Event moved(std::move(start));
  launch(second, 1, Store{word.buffer.as<unsigned>(), 2});
  second = Stream(second_device());
  moved.synchronize();
  CHECK_EQ(second.device(), second_device());
  second.synchronize();
}

#if WEFT_BACKEND_HOST
// On a GPU a failing kernel ends the process's use of the device, so that no test can follow it.
struct Fail {
  void operator()(std::size_t i) const { throw std::runtime_error("index " + std::to_string(i) + " failed"); }
};

TEST(a_failure_surfaces_when_the_stream_is_synchronised) {
  SharedWord word(0);
  Stream stream(0);
  Event after(0);
  launch(stream, 1, Fail{});
  launch(stream, 1, Store{word.buffer.as<unsigned>(), 1});
  after.record(stream);
  after.synchronize();
  const auto message = CHECK_THROWS(stream.synchronize(), CallError);
  CHECK(message.find("index 0 failed") != std::string::npos);
  CHECK_EQ(word.value(), 0u);
  launch(stream, 1, Store{word.buffer.as<unsigned>(), 2});
  stream.synchronize();
  CHECK_EQ(word.value(), 2u);
}
#endif
