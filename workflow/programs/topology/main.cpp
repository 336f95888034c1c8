// topology: what is joined to what on this machine, and how fast each link can be at best.
#include "core/driver.hpp"
#include "core/error.hpp"
#include "topology/facts.hpp"

int main(int argc, char** argv) {
  weft::Program program;
  program.name = "topology";
  program.sentence =
      "Records the devices of this machine, the links between them, network adapters, and the limit of each.";
  program.declare = [](weft::Options& options) {
    options.add("sysfs", "DIR", "where the kernel describes PCI devices, NUMA nodes and network adapters",
                "/sys");
  };
  program.prepare = [](const weft::Options& options) {
    if (!std::filesystem::is_directory(options.text("sysfs")))
      throw weft::UsageError("--sysfs is " + options.text("sysfs") + ", but must be a folder, as /sys is.");
  };
  program.facts = [](const weft::Run& run) { return weft::topology_facts(run, run.options.text("sysfs")); };
  weft::Team alone;
  return weft::run_program(program, argc, argv, alone);
}
