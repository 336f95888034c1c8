// Link classes, limits and adapters of machines that are fabricated as folders: two sockets, PCIe switches,
// one root port with two switches in a row.
#include <filesystem>
#include <fstream>
#include <map>

#include "check.hpp"
#include "topology/nvlink.hpp"
#include "topology/pci.hpp"
#include "topology/sysfs.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

/// A fabricated /sys, removed with its owner.
class Tree {
 public:
  Tree() {
    std::string name = fs::temp_directory_path() / "weft-sysfs-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    root_ = name;
  }
  ~Tree() { fs::remove_all(root_); }
  Tree(const Tree&) = delete;

  const fs::path& root() const { return root_; }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }

  /// Adds the function at the end of a path below /sys/devices.
  void add_function(const std::string& path, int numa_node) const {
    const fs::path folder = fs::path("devices") / path;
    write(folder / "numa_node", std::to_string(numa_node));
    write(folder / "local_cpulist", numa_node == 1 ? "4-7" : "0-3");
    fs::create_directories(root_ / "bus/pci/devices");
    fs::create_symlink(fs::path("../../..") / folder, root_ / "bus/pci/devices" / folder.filename());
  }

  void add_numa_nodes(int count) const {
    for (int node = 0; node < count; ++node)
      write("devices/system/node/node" + std::to_string(node) + "/cpulist", std::to_string(node));
  }

 private:
  fs::path root_;
};

/// Two sockets. On the first: a switch with two GPUs below each of two downstream ports' switches, one GPU on
/// another root port, one behind another host bridge; on the second socket: one GPU.
struct TwoSockets : Tree {
  TwoSockets() {
    add_numa_nodes(2);
    write("devices/system/node/possible", "0-1");
    const std::string upper = "pci0000:10/0000:10:01.0/0000:11:00.0/";
    const std::string first = upper + "0000:12:00.0/0000:13:00.0/",
                      second = upper + "0000:12:01.0/0000:17:00.0/";
    add_function(first + "0000:14:00.0/0000:15:00.0", 0);
    add_function(first + "0000:14:01.0/0000:16:00.0", 0);
    add_function(second + "0000:18:00.0/0000:19:00.0", 0);
    add_function(upper + "0000:12:02.0/0000:1a:00.0", 0);
    add_function("pci0000:10/0000:10:02.0/0000:1b:00.0", 0);
    add_function("pci0000:40/0000:40:01.0/0000:41:00.0", 0);
    add_function("pci0000:80/0000:80:01.0/0000:81:00.0", 1);
  }
};

std::string class_between(const Tree& tree, const std::string& a, const std::string& b) {
  const int nodes = numa_node_count(tree.root());
  return link_class(pci_place(tree.root(), a), pci_place(tree.root(), b), nodes).value_or("unknown");
}

}  // namespace

TEST(every_class_is_told_from_the_others) {
  const TwoSockets tree;
  const std::string gpu = "0000:15:00.0";
  const std::map<std::string, std::string> expected{
      {"0000:15:00.0", "X"},   {"0000:16:00.0", "PIX"},  {"0000:19:00.0", "PXB"}, {"0000:1a:00.0", "PXB"},
      {"0000:1b:00.0", "PHB"}, {"0000:41:00.0", "NODE"}, {"0000:81:00.0", "SYS"}};
  for (const auto& [other, name] : expected) {
    CHECK_EQ(class_between(tree, gpu, other), name);
    CHECK_EQ(class_between(tree, other, gpu), name);
  }
  CHECK_EQ(class_between(tree, "0000:1b:00.0", "0000:41:00.0"), "NODE");
  CHECK_EQ(class_between(tree, "0000:41:00.0", "0000:81:00.0"), "SYS");
}

TEST(devices_directly_on_the_host_bridge_are_a_host_bridge_apart) {
  const Tree tree;
  tree.add_function("pci0000:00/0000:00:05.0", -1);
  tree.add_function("pci0000:00/0000:00:06.0", -1);
  CHECK_EQ(class_between(tree, "0000:00:05.0", "0000:00:06.0"), "PHB");
}

TEST(two_functions_of_one_card_share_their_bridge) {
  const Tree tree;
  tree.add_function("pci0000:00/0000:00:01.0/0000:01:00.0", 0);
  tree.add_function("pci0000:00/0000:00:01.0/0000:01:00.1", 0);
  CHECK_EQ(class_between(tree, "0000:01:00.0", "0000:01:00.1"), "PIX");
}

TEST(an_unknown_numa_node_is_guessed_only_where_there_is_one) {
  for (int nodes : {0, 1, 2}) {
    const Tree tree;
    tree.add_numa_nodes(nodes);
    tree.add_function("pci0000:00/0000:00:05.0", -1);
    tree.add_function("pci0001:00/0001:00:05.0", -1);
    CHECK_EQ(class_between(tree, "0000:00:05.0", "0001:00:05.0"), nodes == 2 ? "unknown" : "NODE");
  }
}

TEST(a_place_tells_numa_node_and_cores) {
  const TwoSockets tree;
  const PciPlace place = pci_place(tree.root(), "0000:81:00.0");
  CHECK(place.numa_node == 1);
  CHECK(place.cpu_affinity == "4-7");
  CHECK(place.bus_id() == "0000:81:00.0");
  const PciPlace none = pci_place(tree.root(), "0000:99:00.0");
  CHECK(none.path.empty() && !none.numa_node && !none.cpu_affinity && !none.bus_id());
}

TEST(pcie_limits_are_those_of_the_standard) {
  CHECK_EQ(*pcie_rate_bytes_per_s(1, 16), 4e9);
  CHECK_EQ(*pcie_rate_bytes_per_s(2, 1), 0.5e9);
  CHECK(std::abs(*pcie_rate_bytes_per_s(3, 16) - 15.754e9) < 1e6);
  CHECK(std::abs(*pcie_rate_bytes_per_s(4, 8) - 15.754e9) < 1e6);
  CHECK(std::abs(*pcie_rate_bytes_per_s(5, 16) - 63.015e9) < 1e6);
  CHECK(!pcie_rate_bytes_per_s(0, 16) && !pcie_rate_bytes_per_s(99, 16));
}

TEST(direct_nvlinks_are_counted_to_each_peer) {
  // As on a DGX-1: two links to one neighbour, one to another, none to the third, one to a device that is not
  // seen.
  const NvLinks a{"a", 0, {"b", "b", "c", "unseen"}, 20e9}, b{"b", 0, {"a", "a"}, 20e9},
      c{"c", 0, {"a"}, 20e9}, d{"d", 0, {}, {}};
  CHECK_EQ(nvlinks_between(a, b), 2);
  CHECK_EQ(nvlinks_between(c, a), 1);
  CHECK_EQ(nvlinks_between(a, d), 0);
  CHECK_EQ(nvlinks_between(b, c), 0);
  CHECK_EQ(nvlinks_to_all(a, {a, b, c, d}), 3);
  CHECK_EQ(nvlinks_to_all(d, {a, b, c, d}), 0);
  CHECK_EQ(a.count(), 4);
}

TEST(nvlinks_through_a_switch_serve_every_pair) {
  const NvLinks a{"a", 18, {}, 26.562e9}, b{"b", 18, {}, 26.562e9}, degraded{"c", 17, {}, 26.562e9},
      none{"d", 0, {}, {}};
  CHECK_EQ(nvlinks_between(a, b), 18);
  CHECK_EQ(nvlinks_between(a, degraded), 17);
  CHECK_EQ(nvlinks_between(a, none), 0);
  CHECK_EQ(nvlinks_to_all(a, {a, b, degraded}), 18);
  CHECK_EQ(nvlinks_to_all(a, {a, none}), 0);
}

TEST(caches_of_the_last_level_are_added_up_once_each) {
  const Tree tree;
  const char* sharers[] = {"0-1", "0-1", "2-3", "2-3"};
  for (int core = 0; core < 4; ++core) {
    const std::string cache = "devices/system/cpu/cpu" + std::to_string(core) + "/cache/";
    tree.write(cache + "index2/level", "2");
    tree.write(cache + "index2/size", "1024K");
    tree.write(cache + "index2/shared_cpu_list", std::to_string(core));
    tree.write(cache + "index3/level", "3");
    tree.write(cache + "index3/size", "32768K");
    tree.write(cache + "index3/shared_cpu_list", sharers[core]);
  }
  tree.write("devices/system/cpu/cpuidle/level", "9");
  CHECK_EQ(last_level_cache_bytes(tree.root()), std::size_t{2} * 32768 * 1024);
  CHECK_EQ(last_level_cache_bytes(tree.root() / "none"), 0u);
}

TEST(a_file_that_holds_no_integer_has_none) {
  const Tree tree;
  tree.write("good", "-12");
  tree.write("bad", "12 monkeys");
  tree.write("empty", "");
  CHECK(read_integer(tree.root() / "good") == -12);
  CHECK(!read_integer(tree.root() / "bad"));
  CHECK(!read_integer(tree.root() / "empty"));
  CHECK(!read_integer(tree.root() / "absent"));
}
