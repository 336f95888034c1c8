#include "p2p/transfer.hpp"

#include <atomic>

#include "core/pattern.hpp"

namespace weft {

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::uint64_t blank_seed = 0;

std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> last{blank_seed};
  return ++last;
}

struct alignas(16) Word {
  std::uint64_t low, high;
};

/// Index i < words copies a word, the following ones a byte each.
struct CopyWords {
  std::byte* destination;
  const std::byte* source;
  std::size_t words;

  WEFT_HOST_DEVICE void operator()(std::size_t i) const {
    if (i < words) {
      reinterpret_cast<Word*>(destination)[i] = reinterpret_cast<const Word*>(source)[i];
    } else {
      const std::size_t byte = words * sizeof(Word) + (i - words);
      destination[byte] = source[byte];
    }
  }
};

}  // namespace

Transfer::Transfer(Memory source_memory, int source, Memory destination_memory, int destination,
                   std::size_t capacity_bytes)
    : source_(source_memory, source, capacity_bytes),
      destination_(destination_memory, destination, capacity_bytes + guard_bytes), seed_(next_seed()) {
  fill_pattern(source_, 0, capacity_bytes, seed_);
}

void Transfer::reset(std::size_t size_bytes) {
  fill_pattern(destination_, 0, size_bytes, blank_seed);
  fill_pattern(destination_, size_bytes, guard_bytes, blank_seed);
}

std::uint64_t Transfer::wrong_bytes(std::size_t size_bytes) const {
  return count_wrong_bytes(destination_, 0, size_bytes, seed_) +
         count_wrong_bytes(destination_, size_bytes, guard_bytes, blank_seed);
}

int Transfer::executor(const std::string& operation) const {
  return operation == "write" ? source_.device() : destination_.device();
}

Lane Transfer::lane(Stream& stream, const std::string& engine, std::size_t size_bytes) const {
  const auto move = engine == "kernel" ? copy_by_kernel : copy;
  return {&stream, [move, &stream, to = destination(), from = source(), size_bytes](std::size_t) {
            move(stream, to, from, size_bytes);
          }};
}

void copy_by_kernel(Stream& stream, Place destination, Place source, std::size_t size_bytes) {
  const std::size_t words = size_bytes / sizeof(Word);
  launch(stream, words + size_bytes % sizeof(Word),
         CopyWords{destination.address(), source.address(), words});
}

Measurement measure(const Run& run, std::vector<Transfer>& transfers, std::size_t size_bytes,
                    const std::vector<Lane>& lanes, bool gated, const std::function<void()>& reset) {
  // Kernels are loaded and peer memory is mapped at first use, which must not happen behind a closed gate.
  time_lanes(lanes, 1, false);
  for (Transfer& transfer : transfers)
    transfer.reset(size_bytes);
  if (reset) reset();
  Measurement measurement;
  measurement.time = sample(
      run.sampling, [&](std::size_t operations) { return time_lanes(lanes, operations, gated); }, run.team);
  ++measurement.time.operations_total;
  for (const Transfer& transfer : transfers)
    measurement.wrong += transfer.wrong_bytes(size_bytes);
  measurement.payload_bytes = static_cast<double>(size_bytes) * static_cast<double>(transfers.size());
  return measurement;
}

std::optional<std::string> without_peer_access(int a, int b) {
  for (const auto& [device, peer] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!can_access_peer(device, peer))
      return "device " + std::to_string(device) + " cannot access the memory of device " +
             std::to_string(peer);
  }
  return std::nullopt;
}

}  // namespace weft
