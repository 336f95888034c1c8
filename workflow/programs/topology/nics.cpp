#include "topology/nics.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "topology/sysfs.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

/// `400 Gb/sec (4X NDR)` in bytes per second.
std::optional<double> port_rate(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  double rate_gb_per_s = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), rate_gb_per_s);
  if (problem != std::errc() || rate_gb_per_s <= 0 || std::string(end).rfind(" Gb/sec", 0) != 0)
    return std::nullopt;
  return rate_gb_per_s * 1e9 / 8;
}

/// `4: ACTIVE` without its number.
std::optional<std::string> port_state(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t colon = text->find(": ");
  return lower(colon == std::string::npos ? *text : text->substr(colon + 2));
}

std::string port_kind(const std::optional<std::string>& link_layer) {
  const std::string layer = lower(link_layer.value_or(""));
  return layer == "infiniband" || layer == "ethernet" ? layer : "other";
}

void find_rdma_ports(const fs::path& sysfs, std::vector<Nic>& nics) {
  const fs::path folder = sysfs / "class/infiniband";
  for (const std::string& name : names_in(folder)) {
    const PciPlace place = pci_place_of(folder / name / "device");
    const std::vector<std::string> ports = names_in(folder / name / "ports");
    for (const std::string& port : ports) {
      const fs::path files = folder / name / "ports" / port;
      nics.push_back({ports.size() == 1 ? name : name + ":" + port,
                      port_kind(read_line(files / "link_layer")), place, port_rate(read_line(files / "rate")),
                      port_state(read_line(files / "state"))});
    }
  }
}

void find_interfaces(const fs::path& sysfs, std::vector<Nic>& nics) {
  const std::size_t rdma_ports = nics.size();
  const fs::path folder = sysfs / "class/net";
  for (const std::string& name : names_in(folder)) {
    if (!fs::exists(folder / name / "device")) continue;  // loopback, bridges, tunnels
    const PciPlace place = pci_place_of(folder / name / "device");
    const bool known = std::any_of(nics.begin(), nics.begin() + rdma_ports, [&](const Nic& nic) {
      return !place.path.empty() && nic.place.path == place.path;
    });
    if (known) continue;
    constexpr long ethernet = 1;  // ARPHRD_ETHER
    const std::optional<long> speed_mb_per_s = read_integer(folder / name / "speed");
    Nic nic{name, read_integer(folder / name / "type") == ethernet ? "ethernet" : "other", place,
            std::nullopt, read_line(folder / name / "operstate")};
    if (speed_mb_per_s && *speed_mb_per_s > 0)
      nic.rate_bytes_per_s = 1e6 * static_cast<double>(*speed_mb_per_s) / 8;
    nics.push_back(std::move(nic));
  }
}

}  // namespace

std::vector<Nic> find_nics(const fs::path& sysfs) {
  std::vector<Nic> nics;
  find_rdma_ports(sysfs, nics);
  find_interfaces(sysfs, nics);
  return nics;
}

}  // namespace weft
