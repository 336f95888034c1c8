// What p2p.copy adds to memcpy on the host backend: both by a thread on the same core, between the same
// buffers, in turn. host_copy [SIZE_BYTES...] prints a JSON object per size, default 64 MiB.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <iostream>
#include <vector>

#include "comparison.hpp"
#include "core/cores.hpp"
#include "p2p/transfer.hpp"

using namespace weft;

namespace {

constexpr int rounds = 41;
constexpr double round_s = 0.02;

double plain_s(const Transfer& transfer, std::size_t size_bytes, std::size_t operations) {
  std::byte* to = transfer.destination().address();
  const std::byte* from = transfer.source().address();
  const std::vector<int> cores{host_place(0).cores.front()};
  return std::async(std::launch::async,
                    [=] {
                      pin_this_thread(cores);
                      const auto start = std::chrono::steady_clock::now();
                      for (std::size_t i = 0; i < operations; ++i) {
                        std::memcpy(to, from, size_bytes);
                        asm volatile("" ::"r"(to)
                                     : "memory");  // each copy is to be seen, so none may be left out
                      }
                      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
                    })
      .get();
}

Json compare(std::size_t size_bytes) {
  Transfer transfer(0, 1, size_bytes);
  transfer.reset(size_bytes);
  const PeerAccess access(0, 1);
  Stream stream(0);
  const std::vector<Lane> lanes{transfer.lane(stream, size_bytes)};
  const auto operations = static_cast<std::size_t>(std::max(1.0, round_s / plain_s(transfer, size_bytes, 1)));
  const auto each = static_cast<double>(operations);
  const Comparison comparison = compare_in_turn(
      rounds, [&] { return plain_s(transfer, size_bytes, operations) / each; },
      [&] { return time_lanes(lanes, operations) / each; });
  return Json::object({{"benchmark", "host_copy"}, {"size_bytes", size_bytes}}).merge(comparison.json());
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t size_bytes : numbers(argc, argv, 64 << 20))
    std::cout << compare(size_bytes).dump() << std::endl;
}
