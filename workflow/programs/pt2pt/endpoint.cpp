#include "pt2pt/endpoint.hpp"

#include <algorithm>
#include <climits>
#include <unistd.h>

#include "core/error.hpp"
#include "core/pattern.hpp"

namespace weft {

namespace {

constexpr std::uint64_t poison_seed = 1;
constexpr std::uint64_t first_sender_seed = 1000;
constexpr double usable_share = 0.9;  ///< of memory

std::uint64_t physical_memory_bytes() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::optional<std::string> exceeds(std::uint64_t needed, std::uint64_t available, const std::string& whose) {
  if (static_cast<double>(needed) <= usable_share * static_cast<double>(available)) return std::nullopt;
  return "the ranks would take " + format_size(needed) + " of the " + format_size(available) +
         " of memory of " + whose;
}

/// All that an endpoint takes of the two memories.
std::optional<std::string> exceeds_memory(const World& world, std::uint64_t capacity_bytes,
                                          std::size_t staging_bytes) {
  std::uint64_t on_host = 0, on_device = 0;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (world.host(rank) != world.host(world.rank())) continue;
    ++on_host;
    if (world.device_of(rank) == world.device()) ++on_device;
  }
  const bool device_is_host = backend() == Backend::host;
  const std::uint64_t host_bytes = 2 * staging_bytes + (device_is_host ? 2 * capacity_bytes : 0);
  if (auto reason = exceeds(on_host * host_bytes, physical_memory_bytes(), world.host(world.rank())))
    return reason;
  if (device_is_host) return std::nullopt;
  return exceeds(on_device * 2 * capacity_bytes, device_properties(world.device()).memory_bytes,
                 "device " + std::to_string(world.device()));
}

/// Of both directions; 0 where nothing is staged.
std::size_t staging_of(Memory placement, const Traffic& traffic) {
  return placement == Memory::device ? 0 : staging_bytes(traffic);
}

}  // namespace

Endpoint::Endpoint(const World& world, Memory placement, std::uint64_t capacity_bytes,
                   std::size_t staging_capacity_bytes)
    : outgoing_(Memory::device, world.device(), capacity_bytes),
      incoming_(Memory::device, world.device(), capacity_bytes),
      transport_(make_transport(world, placement, staging_capacity_bytes)) {
  fill_pattern(outgoing_, 0, capacity_bytes, first_sender_seed + world.rank());
}

void Endpoint::poison(std::uint64_t size_bytes) { fill_pattern(incoming_, 0, size_bytes, poison_seed); }

std::uint64_t Endpoint::wrong_bytes(std::uint64_t size_bytes, int sender) const {
  return count_wrong_bytes(incoming_, 0, size_bytes, first_sender_seed + sender);
}

Workbench::Workbench(const World& world, std::vector<Configuration> configurations, std::size_t messages)
    : world_(world), configurations_(std::move(configurations)), messages_(messages) {}

std::optional<std::string> Workbench::unsupported(const Configuration& configuration) const {
  if (configuration.placement == Memory::device && !world_.takes_device_buffers())
    return "the MPI library is not CUDA-aware: it takes no device memory";
  if (configuration.chunk_bytes.value_or(configuration.size_bytes) > INT_MAX)
    return "a message of " + format_size(configuration.size_bytes) + " exceeds MPI's count of " +
           std::to_string(INT_MAX) + " bytes; it would pass in chunks";
  return exceeds_memory(world_, configuration.size_bytes,
                        staging_of(configuration.placement, traffic(configuration)));
}

Traffic Workbench::traffic(const Configuration& configuration) const {
  return {configuration.size_bytes, configuration.chunk_bytes.value_or(0), messages_};
}

Endpoint& Workbench::endpoint(const Configuration& configuration) {
  if (placement_ != configuration.placement) {
    endpoint_.reset();
    placement_.reset();
    std::uint64_t capacity = 0;
    std::size_t staging = 0;
    for (Configuration other : configurations_) {
      if (other.placement != configuration.placement || unsupported(other)) continue;
      capacity = std::max(capacity, other.size_bytes);
      staging = std::max(staging, staging_of(other.placement, traffic(other)));
      for (const std::uint64_t chunk :
           other.search ? chunk_candidates(other.size_bytes) : std::vector<std::uint64_t>{}) {
        other.chunk_bytes = chunk;
        staging = std::max(staging, staging_of(other.placement, traffic(other)));
      }
    }
    endpoint_ = std::make_unique<Endpoint>(world_, configuration.placement, capacity, staging);
    placement_ = configuration.placement;
  }
  endpoint_->transport().expect(traffic(configuration));
  return *endpoint_;
}

}  // namespace weft
