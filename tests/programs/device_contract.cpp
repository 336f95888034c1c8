// What both backends of the device layer promise: the same source runs on the host and on GPUs. With one
// device only, that device stands in for the second.
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "check.hpp"
#include "core/cores.hpp"
#include "core/device.hpp"
#include "core/error.hpp"
#include "core/pattern.hpp"

using namespace weft;

namespace {

using Bytes = std::vector<unsigned char>;

int second_device() { return device_count() > 1 ? 1 : 0; }

Bytes read_back(const Buffer& buffer) {
  const Buffer seen(Memory::pinned, buffer.device(), buffer.size_bytes());
  Stream stream(buffer.device());
  copy(stream, {&seen}, {&buffer}, buffer.size_bytes());
  stream.synchronize();
  const auto* begin = seen.as<unsigned char>();
  return Bytes(begin, begin + seen.size_bytes());
}

void write(const Buffer& buffer, const Bytes& bytes) {
  const Buffer staged(Memory::pinned, buffer.device(), bytes.size());
  std::memcpy(staged.data(), bytes.data(), bytes.size());
  Stream stream(buffer.device());
  copy(stream, {&buffer}, {&staged}, bytes.size());
  stream.synchronize();
}

Bytes counting_bytes(std::size_t count, unsigned start) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>((i * 7 + i / 256 + start) & 0xff);
  return bytes;
}

struct Increment {
  std::uint64_t* count;
  WEFT_HOST_DEVICE void operator()(std::size_t) const { ++*count; }
};

/// One buffer of every kind that a copy can begin or end in.
std::vector<Buffer> one_of_each(std::size_t size_bytes) {
  std::vector<Buffer> buffers;
  buffers.emplace_back(Memory::device, 0, size_bytes);
  buffers.emplace_back(Memory::device, second_device(), size_bytes);
  buffers.emplace_back(Memory::pinned, 0, size_bytes);
  buffers.emplace_back(Memory::pinned, second_device(), size_bytes);
  buffers.emplace_back(Memory::pageable, 0, size_bytes);
  return buffers;
}

/// Copies between all kinds of memory at many sizes and offsets, and looks at every byte of the destination.
void check_all_copies() {
  constexpr std::size_t capacity = (3 << 20) + 64;
  const std::vector<Buffer> sources = one_of_each(capacity), destinations = one_of_each(capacity);
  const Bytes sent = counting_bytes(capacity, 1), before = counting_bytes(capacity, 100);
  for (const Buffer& source : sources)
    write(source, sent);
  struct Shape {
    std::size_t size, from, to;
  };
  const std::vector<Shape> shapes{
      {1, 0, 0},        {3, 1, 2},       {4, 4, 8},    {7, 0, 5},       {8, 8, 0},
      {63, 3, 17},      {4096, 0, 0},    {4097, 9, 1}, {65536, 16, 32}, {(1 << 20) + 5, 1, 3},
      {3 << 20, 64, 0}, {capacity, 0, 0}};
  for (const Buffer& source : sources)
    for (const Buffer& destination : destinations)
      for (const Shape& shape : shapes) {
        write(destination, before);
        Stream stream(destination.device());
        copy(stream, {&destination, shape.to}, {&source, shape.from}, shape.size);
        stream.synchronize();
        Bytes expected = before;
        std::memcpy(expected.data() + shape.to, sent.data() + shape.from, shape.size);
        CHECK(read_back(destination) == expected);
      }
}

struct Store {
  unsigned* word;
  unsigned value;
  WEFT_HOST_DEVICE void operator()(std::size_t) const { *word = value; }
};

struct CountVisit {
  unsigned* visits;
  WEFT_HOST_DEVICE void operator()(std::size_t i) const { ++visits[i]; }
};

/// A word that both the host and the devices can see.
struct SharedWord {
  Buffer buffer{Memory::pinned, 0, sizeof(unsigned)};
  explicit SharedWord(unsigned value) { *buffer.as<volatile unsigned>() = value; }
  unsigned value() const { return *buffer.as<volatile unsigned>(); }
};

}  // namespace

TEST(copies_move_exactly_the_bytes_asked_for) { check_all_copies(); }

TEST(copies_move_exactly_the_bytes_asked_for_with_peer_access) {
  if (!can_access_peer(0, second_device())) return;
  const PeerAccess access(0, second_device());
  check_all_copies();
}

TEST(copies_beyond_a_buffer_are_refused) {
  const Buffer small(Memory::device, 0, 100), large(Memory::device, 0, 200);
  Stream stream(0);
  const auto message = CHECK_THROWS(copy(stream, {&small, 1}, {&large}, 100), std::out_of_range);
  CHECK(message.find("destination of 100 bytes at offset 1 is beyond its buffer of 100 bytes") !=
        std::string::npos);
  CHECK_THROWS(copy(stream, {&large}, {&small}, 101), std::out_of_range);
  CHECK_THROWS(copy(stream, {&large, 201}, {&small}, 0), std::out_of_range);
}

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

TEST(a_graph_runs_when_it_is_launched_and_as_often) {
  constexpr std::size_t size = 4096;
  const Buffer source(Memory::device, 0, size), destination(Memory::device, second_device(), size);
  const PeerAccess access(0, second_device());
  const Buffer count(Memory::pinned, 0, sizeof(std::uint64_t));
  auto* counted = count.as<std::uint64_t>();
  *counted = 0;
  write(source, counting_bytes(size, 1));
  const Bytes before = counting_bytes(size, 100);
  write(destination, before);
  Stream stream(0);
  Graph graph(stream, [&] {
    for (int i = 0; i < 3; ++i)
      launch(stream, 1, Increment{counted});
    copy(stream, {&destination}, {&source}, size);
  });
  stream.synchronize();
  CHECK_EQ(*counted, 0u);
  CHECK(read_back(destination) == before);
  Graph moved(std::move(graph));
  for (int i = 0; i < 4; ++i)
    moved.launch();
  launch(stream, 1, Increment{counted});
  stream.synchronize();
  CHECK_EQ(*counted, 13u);
  CHECK(read_back(destination) == counting_bytes(size, 1));
}

TEST(a_graph_that_could_not_be_made_leaves_its_stream_usable) {
  const Buffer count(Memory::pinned, 0, sizeof(std::uint64_t)), small(Memory::device, 0, 8);
  auto* counted = count.as<std::uint64_t>();
  *counted = 0;
  Stream stream(0);
  CHECK_THROWS(Graph(stream,
                     [&] {
                       launch(stream, 1, Increment{counted});
                       copy(stream, {&small}, {&small}, 9);
                     }),
               std::out_of_range);
  launch(stream, 1, Increment{counted});
  stream.synchronize();
  CHECK_EQ(*counted, 1u);
}

TEST(a_graph_waits_at_a_gate) {
  const Buffer count(Memory::pinned, 0, sizeof(std::uint64_t));
  auto* counted = count.as<std::uint64_t>();
  *counted = 0;
  Stream stream(0);
  Graph graph(stream, [&] { launch(stream, 1, Increment{counted}); });
  Gate gate;
  gate.hold(stream);
  graph.launch();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK_EQ(*static_cast<volatile std::uint64_t*>(counted), 0u);
  gate.open();
  stream.synchronize();
  CHECK_EQ(*counted, 1u);
}

TEST(a_gate_holds_streams_until_it_is_opened) {
  std::vector<std::unique_ptr<SharedWord>> words;
  std::vector<Stream> streams;
  Gate gate;
  for (int device = 0; device < device_count(); ++device) {
    words.push_back(std::make_unique<SharedWord>(0));
    streams.emplace_back(device);
    gate.hold(streams.back());
    launch(streams.back(), 1, Store{words.back()->buffer.as<unsigned>(), 1});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  for (const auto& word : words)
    CHECK_EQ(word->value(), 0u);
  gate.open();
  for (Stream& stream : streams)
    stream.synchronize();
  gate.check();
  for (const auto& word : words)
    CHECK_EQ(word->value(), 1u);
}

TEST(a_closed_gate_takes_as_many_operations_as_it_says) {
  const Buffer a(Memory::device, 0, 64), b(Memory::device, 0, 64);
  write(a, counting_bytes(64, 5));
  Stream stream(0);
  Gate gate(2.0);
  gate.hold(stream);
  for (std::size_t i = 0; i < gate_depth(); ++i)
    copy(stream, {&b}, {&a}, 64);
  gate.open();
  stream.synchronize();
  gate.check();
  CHECK(read_back(b) == counting_bytes(64, 5));
}

TEST(a_gate_never_opened_gives_up_and_explains) {
  SharedWord word(0);
  Stream stream(0);
  Gate gate(0.05);
  gate.hold(stream);
  launch(stream, 1, Store{word.buffer.as<unsigned>(), 9});
  stream.synchronize();
  CHECK_EQ(word.value(), 9u);
  const auto message = CHECK_THROWS(gate.open(), CallError);
  CHECK(message.find("blocked by work that itself waits behind the gate") != std::string::npos);
  CHECK_THROWS(gate.check(), CallError);
}

TEST(a_gate_can_be_left_without_being_opened) {
  SharedWord word(0);
  Stream stream(0);
  {
    Gate gate;
    gate.hold(stream);
    launch(stream, 1, Store{word.buffer.as<unsigned>(), 4});
  }
  stream.synchronize();
  CHECK_EQ(word.value(), 4u);
}

TEST(gates_follow_each_other) {
  Stream stream(0);
  for (int i = 0; i < 200; ++i) {
    Gate gate;
    gate.hold(stream);
    gate.open();
    stream.synchronize();
    gate.check();
  }
}

TEST(peer_access_lets_a_kernel_store_to_another_device) {
  const int other = second_device();
  if (other == 0 || !can_access_peer(0, other)) return;
  const Buffer remote(Memory::device, other, sizeof(unsigned));
  write(remote, Bytes(sizeof(unsigned), 0));
  PeerAccess outer(0, other);
  {
    const PeerAccess inner(other, 0);
  }
  PeerAccess moved(std::move(outer));
  Stream stream(0);
  launch(stream, 1, Store{remote.as<unsigned>(), 0x01010101u});
  stream.synchronize();
  CHECK(read_back(remote) == Bytes(4, 1));
}

TEST(buffers_move) {
  Buffer first(Memory::device, second_device(), 1000);
  write(first, counting_bytes(1000, 8));
  void* data = first.data();
  Buffer second(std::move(first));
  CHECK(second.data() == data);
  CHECK_EQ(second.size_bytes(), 1000u);
  CHECK_EQ(second.device(), second_device());
  Buffer third(Memory::pinned, 0, 10);
  third = std::move(second);
  CHECK(third.memory() == Memory::device);
  CHECK(read_back(third) == counting_bytes(1000, 8));
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

TEST(a_buffer_needs_a_byte_and_a_device_and_room) {
  CHECK_THROWS(Buffer(Memory::device, 0, 0), std::invalid_argument);
  CHECK_THROWS(Buffer(Memory::device, device_count(), 8), std::out_of_range);
  CHECK_THROWS(Buffer(Memory::device, -1, 8), std::out_of_range);
  CHECK_THROWS(Buffer(Memory::device, 0, std::size_t{1} << 46), Unsupported);
  CHECK_THROWS(Buffer(Memory::pageable, 0, std::size_t{1} << 46), Unsupported);
  const Buffer still_works(Memory::device, 0, 8);
  write(still_works, counting_bytes(8, 0));
}

TEST(devices_that_do_not_exist_are_refused) {
  const int none = device_count();
  CHECK_THROWS(Stream(none), std::out_of_range);
  CHECK_THROWS(Event(none), std::out_of_range);
  CHECK_THROWS(device_properties(none), std::out_of_range);
  CHECK_THROWS(can_access_peer(0, none), std::out_of_range);
  CHECK_THROWS(PeerAccess(none, 0), std::out_of_range);
}

TEST(every_device_has_properties) {
  CHECK(device_count() >= 1);
  for (int device = 0; device < device_count(); ++device) {
    const DeviceProperties properties = device_properties(device);
    CHECK_EQ(properties.device, device);
    CHECK(!properties.name.empty());
    CHECK(properties.memory_bytes > 0);
    CHECK_EQ(properties.pci_bus_id.has_value(), backend() == Backend::cuda);
    CHECK_EQ(properties.cores.empty(), backend() == Backend::cuda);
    CHECK(can_access_peer(device, device));
  }
}

TEST(the_number_of_host_devices_is_checked) {
  CHECK_THROWS(set_host_devices(0), UsageError);
  CHECK_THROWS(set_host_devices(-3), UsageError);
  CHECK_THROWS(set_host_devices(100000), UsageError);
  const int count = device_count();
  const auto message = CHECK_THROWS(set_host_devices(count + 1), UsageError);
  CHECK(message.find("--host-devices") != std::string::npos);
  CHECK_EQ(device_count(), count);
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

TEST(devices_share_cores_only_when_there_are_too_few) {
  const std::vector<NumaNode> nodes{{0, {0, 1, 2, 3}}, {1, {4, 5, 6, 7}}};
  const auto places = place_devices(nodes, 4);
  CHECK_EQ(format_cpu_list(places[0].cores) + " " + format_cpu_list(places[1].cores), "0-1 4-5");
  CHECK_EQ(format_cpu_list(places[2].cores) + " " + format_cpu_list(places[3].cores), "2-3 6-7");
  CHECK_EQ(places[3].node, 1);
  const auto crowded = place_devices({{0, {2, 5}}}, 5);
  std::string cores;
  for (const NumaNode& place : crowded)
    cores += format_cpu_list(place.cores) + " ";
  CHECK_EQ(cores, "2 5 2 5 2 ");
  const auto uneven = place_devices(nodes, 3);
  CHECK_EQ(format_cpu_list(uneven[0].cores) + " " + format_cpu_list(uneven[1].cores), "0-1 4-7");
}
#endif

TEST(cpu_lists_are_read_and_written_as_linux_does) {
  CHECK_EQ(format_cpu_list(parse_cpu_list("0-2,5,7-8\n")), "0-2,5,7-8");
  CHECK_EQ(parse_cpu_list("").size(), 0u);
  CHECK_THROWS(parse_cpu_list("0-x"), std::invalid_argument);
  CHECK_THROWS(parse_cpu_list("3;4"), std::invalid_argument);
}
