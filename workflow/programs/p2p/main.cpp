// p2p: copies between the devices of one machine, in one process.
#include "core/driver.hpp"
#include "p2p/axes.hpp"

int main(int argc, char** argv) {
  weft::Program program;
  program.name = "p2p";
  program.sentence =
      "Measures copies between the devices of one machine and between devices and host memory.";
  program.declare = weft::declare_axes;
  program.prepare = [](const weft::Options& options) { weft::Axes{options}; };
  weft::Team alone;
  return weft::run_program(program, argc, argv, alone);
}
