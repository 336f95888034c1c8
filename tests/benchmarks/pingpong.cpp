// What pt2pt.latency adds to MPI_Send and MPI_Recv: both between the same two ranks and buffers, in turn.
// mpirun -n 2 pingpong [SIZE_BYTES...] prints a JSON object per size, default 8 B.
#include <algorithm>
#include <chrono>
#include <iostream>

#include "comparison.hpp"
#include "pt2pt/ping_pong.hpp"

using namespace weft;

namespace {

constexpr int rounds = 401;
constexpr double round_s = 0.001;

template <class Loop>
double time_of(World& world, Loop loop) {
  world.barrier();
  const auto start = std::chrono::steady_clock::now();
  loop();
  return world.maximum(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void bare_ping_pong(const Message& out, const Message& in, bool source, std::size_t operations) {
  void* const to_send = out.place.address();
  void* const to_receive = in.place.address();
  const int count = static_cast<int>(out.size_bytes), peer = out.peer;
  const auto send = [&] { MPI_Send(to_send, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD); };
  const auto receive = [&] {
    MPI_Recv(to_receive, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  for (std::size_t i = 0; i < operations; ++i) {
    source ? send() : receive();
    source ? receive() : send();
  }
}

Json compare(World& world, std::size_t size_bytes) {
  const int peer = 1 - world.rank();
  const bool source = world.rank() == 0;
  Endpoint endpoint(world, Memory::device, size_bytes, 0);
  const Message out = endpoint.outgoing(peer, size_bytes), in = endpoint.incoming(peer, size_bytes);
  const auto bare_s = [&](std::size_t operations) {
    return time_of(world, [&] { bare_ping_pong(out, in, source, operations); }) /
           static_cast<double>(operations);
  };
  const auto pt2pt_s = [&](std::size_t operations) {
    return time_of(world, [&] { ping_pong(endpoint, peer, source, size_bytes, operations); }) /
           static_cast<double>(operations);
  };
  bare_s(100);
  const auto operations = static_cast<std::size_t>(std::max(1.0, round_s / bare_s(100)));
  const Comparison comparison =
      compare_in_turn(rounds, [&] { return bare_s(operations); }, [&] { return pt2pt_s(operations); });
  return Json::object({{"benchmark", "pingpong"}, {"size_bytes", size_bytes}}).merge(comparison.json());
}

}  // namespace

int main(int argc, char** argv) {
  World world(argc, argv);
  if (world.size() != 2) {
    if (world.leads()) std::cerr << "pingpong needs 2 ranks: mpirun -n 2 pingpong\n";
    return 2;
  }
  for (const std::size_t size_bytes : numbers(argc, argv, 8)) {
    const Json result = compare(world, size_bytes);
    if (world.leads()) std::cout << result.dump() << std::endl;
  }
}
