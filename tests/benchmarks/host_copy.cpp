// What p2p.copy adds to memcpy on the host backend: both by a thread on the same core, between the same
// buffers, in turn. host_copy [SIZE_BYTES...] prints a JSON object per size, default 64 MiB.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "core/cores.hpp"
#include "core/json.hpp"
#include "core/statistics.hpp"
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

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median(values);
}

Json compare(std::size_t size_bytes) {
  Transfer transfer(0, 1, size_bytes);
  transfer.reset(size_bytes);
  const PeerAccess access(0, 1);
  Stream stream(0);
  const std::vector<Lane> lanes{transfer.lane(stream, "copy_engine", size_bytes)};
  const auto operations = static_cast<std::size_t>(std::max(1.0, round_s / plain_s(transfer, size_bytes, 1)));
  std::vector<double> plain, p2p, ratio;
  for (int round = 0; round < rounds; ++round) {
    plain.push_back(plain_s(transfer, size_bytes, operations) / static_cast<double>(operations));
    p2p.push_back(time_lanes(lanes, operations) / static_cast<double>(operations));
    ratio.push_back(plain.back() / p2p.back());
  }
  const auto rate = [&](const std::vector<double>& times_s) {
    return static_cast<double>(size_bytes) / median_of(times_s);
  };
  return Json::object({{"benchmark", "host_copy"},
                       {"size_bytes", size_bytes},
                       {"rounds", rounds},
                       {"plain_bytes_per_s", rate(plain)},
                       {"p2p_bytes_per_s", rate(p2p)},
                       {"ratio", median_of(ratio)}});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> sizes(argv + 1, argv + argc);
  if (sizes.empty()) sizes = {std::to_string(64 << 20)};
  for (const std::string& size : sizes)
    std::cout << compare(std::stoull(size)).dump() << std::endl;
}
