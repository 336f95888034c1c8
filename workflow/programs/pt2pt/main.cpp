// pt2pt: messages between ranks, by MPI.
#include "core/driver.hpp"
#include "core/error.hpp"
#include "mpi/world.hpp"
#include "pt2pt/axes.hpp"

int main(int argc, char** argv) {
  weft::World world(argc, argv);
  weft::Program program;
  program.name = "pt2pt";
  program.sentence = "Measures messages between two ranks, or between all of them at once, by MPI.";
  program.declare = [](weft::Options& options) {
    weft::declare_axes(options);
    weft::World::declare(options);
  };
  program.prepare = [&](const weft::Options& options) {
    world.check_geometry(options);
    if (world.size() < 2)
      throw weft::UsageError(
          "pt2pt needs 2 ranks or more and has 1; start it with an MPI launcher, e.g. mpirun -n 2 pt2pt.");
    weft::Axes(options, world.nodes_of_ranks());
  };
  program.software = [&] { return world.software(); };
  program.geometry = [&] { return world.geometry(); };
  return weft::run_program(program, argc, argv, world);
}
