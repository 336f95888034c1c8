// What both backends of the device layer promise of gates and graphs: nothing runs before its time, and all
// of it then.
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "check.hpp"
#include "core/error.hpp"
#include "device_bytes.hpp"

using namespace weft;

namespace {

struct Increment {
  std::uint64_t* count;
  WEFT_HOST_DEVICE void operator()(std::size_t) const { ++*count; }
};

}  // namespace

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
