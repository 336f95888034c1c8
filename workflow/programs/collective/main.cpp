// collective: collective operations over the ranks of a run, by MPI or NCCL.
#include "collective/axes.hpp"
#include "collective/library.hpp"
#include "core/driver.hpp"

int main(int argc, char** argv) {
  weft::World world(argc, argv);
  weft::collective::Groups groups(world);
  weft::Program program;
  program.name = "collective";
  program.sentence = "Measures collective operations, by MPI or by NCCL, with results checked on every rank.";
  program.declare = [](weft::Options& options) {
    weft::collective::declare_axes(options);
    weft::World::declare(options);
  };
  program.prepare = [&](const weft::Options& options) {
    world.check_geometry(options);
    const weft::collective::Axes axes(options, world.size());
    if (axes.library == weft::collective::LibraryName::nccl) axes.nccl.set_variables();
  };
  program.software = [&] { return world.software().set("nccl", weft::collective::nccl_version()); };
  program.geometry = [&] { return world.geometry(); };
  return weft::run_program(program, argc, argv, world);
}
