// Cores: lists as Linux writes them, and which cores a device of the host backend has.
#include "check.hpp"
#include "core/cores.hpp"

using namespace weft;

#if WEFT_BACKEND_HOST
TEST(devices_share_cores_only_when_there_are_too_few) {
  const std::vector<NumaNode> nodes{{0, {0, 1, 2, 3}}, {1, {4, 5, 6, 7}}};
  const auto places = place_devices(nodes, 4);
  CHECK_EQ(format_cpu_list(places[0].cores) + " " + format_cpu_list(places[1].cores), "0-1 4-5");
  CHECK_EQ(format_cpu_list(places[2].cores) + " " + format_cpu_list(places[3].cores), "2-3 6-7");
  CHECK_EQ(places[3].node, 1);
  const auto crowded = place_devices({{0, {2, 5}}}, 5);
  std::string cores;
  for (const NumaNode& place : crowded)
    cores += format_cpu_list(place.cores) + " ";
  CHECK_EQ(cores, "2 5 2 5 2 ");
  const auto uneven = place_devices(nodes, 3);
  CHECK_EQ(format_cpu_list(uneven[0].cores) + " " + format_cpu_list(uneven[1].cores), "0-1 4-7");
}
#endif

TEST(cpu_lists_are_read_and_written_as_linux_does) {
  CHECK_EQ(format_cpu_list(parse_cpu_list("0-2,5,7-8\n")), "0-2,5,7-8");
  CHECK_EQ(parse_cpu_list("").size(), 0u);
  CHECK_THROWS(parse_cpu_list("0-x"), std::invalid_argument);
  CHECK_THROWS(parse_cpu_list("3;4"), std::invalid_argument);
}
