// What the copy kernel is launched with, by whichever backend.
#include "p2p/copy_kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

constexpr std::size_t word_bytes = 16;
constexpr unsigned warp_threads = 32;

// Of a tuning run: long enough that a launch does not count, and 18 candidates done in a tenth of a second.
constexpr std::size_t tuning_bytes = 256 << 20;
constexpr std::size_t tuning_copies = 2;
constexpr int tuning_samples = 3;

KernelGrid fastest(const std::vector<KernelGrid>& candidates, int source, int destination,
                   const std::string& operation) {
  const PeerAccess access(source, destination);
  const Transfer transfer(source, destination, tuning_bytes);
  Stream stream(transfer.executor(operation));
  KernelGrid best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const KernelGrid& grid : candidates) {
    const std::vector<Lane> lanes{transfer.lane(stream, {0, tuning_bytes}, grid)};
    time_lanes(lanes, 1, false);
    std::vector<double> samples_s;
    for (int i = 0; i < tuning_samples; ++i)
      samples_s.push_back(time_lanes(lanes, tuning_copies));
    std::sort(samples_s.begin(), samples_s.end());
    if (median(samples_s) >= best_s) continue;
    best = grid;
    best_s = median(samples_s);
  }
  return best;
}

}  // namespace

std::string KernelGrid::text() const {
  return std::to_string(blocks) + "x" + std::to_string(threads) + "x" + std::to_string(unroll);
}

KernelGrid parse_kernel_grid(const std::string& text) {
  KernelGrid grid;
  std::sscanf(text.c_str(), "%9ux%9ux%9u", &grid.blocks, &grid.threads, &grid.unroll);
  const bool known = std::find(std::begin(unrolls), std::end(unrolls), grid.unroll) != std::end(unrolls);
  if (grid.text() != text || grid.blocks == 0 || grid.threads % warp_threads != 0 || grid.threads == 0 ||
      grid.threads > most_threads || !known)
    throw UsageError("--kernel-grid " + text + " is not BLOCKSxTHREADSxUNROLL with threads in 32, 64, ... " +
                     std::to_string(most_threads) + " and an unroll of 1, 2, 4, 8 or 16, such as 264x512x8.");
  return grid;
}

KernelGrid fitting_grid(KernelGrid grid, std::size_t size_bytes) {
  const std::size_t words = std::max<std::size_t>(size_bytes / word_bytes, 1);
  const std::size_t all_threads = static_cast<std::size_t>(grid.blocks) * grid.threads;
  while (grid.unroll > 1 && words < all_threads * grid.unroll)
    grid.unroll /= 2;
  const std::size_t warps = (words + warp_threads - 1) / warp_threads;
  grid.threads = static_cast<unsigned>(std::min<std::size_t>(grid.threads, warps * warp_threads));
  const std::size_t tile = static_cast<std::size_t>(grid.threads) * grid.unroll;
  grid.blocks = static_cast<unsigned>(std::min<std::size_t>(grid.blocks, (words + tile - 1) / tile));
  return grid;
}

std::vector<KernelGrid> candidate_grids(int device) {
  const auto multiprocessors = device_properties(device).multiprocessors;
  if (!multiprocessors) return {KernelGrid{}};
  std::vector<KernelGrid> grids;
  for (const unsigned blocks : {1u, 2u, 4u})
    for (const unsigned threads : {256u, 512u})
      for (const unsigned unroll : {4u, 8u, 16u})
        grids.push_back({blocks * static_cast<unsigned>(*multiprocessors), threads, unroll});
  return grids;
}

KernelGrid tuned_grid(int source, int destination, const std::string& operation) {
  static std::map<std::pair<std::string, std::string>, KernelGrid> tuned;
  const int executor = operation == "write" ? source : destination;
  const auto key = std::pair(device_properties(executor).compute_capability.value_or(""), operation);
  const auto known = tuned.find(key);
  if (known != tuned.end()) return known->second;
  const std::vector<KernelGrid> candidates = candidate_grids(executor);
  const KernelGrid grid =
      candidates.size() == 1 ? candidates[0] : fastest(candidates, source, destination, operation);
  return tuned.emplace(key, grid).first->second;
}

}  // namespace weft
