#include "core/link_traffic.hpp"
#include "core/nvml.hpp"

namespace weft {

LinkCounters read_link_counters(int device) {
  const auto fields = nvml::of_device(device).read({{NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, nvml::all_links},
                                                    {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, nvml::all_links},
                                                    {NVML_FI_DEV_PCIE_COUNT_TX_BYTES},
                                                    {NVML_FI_DEV_PCIE_COUNT_RX_BYTES}});
  const auto from_kib = [](const std::optional<std::uint64_t>& kib) {
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  };
  const auto of_32_bits = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? std::optional(static_cast<std::uint32_t>(*bytes)) : std::nullopt;
  };
  return {from_kib(fields[0]), from_kib(fields[1]), of_32_bits(fields[2]), of_32_bits(fields[3])};
}

}  // namespace weft
