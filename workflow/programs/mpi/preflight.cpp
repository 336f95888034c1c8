// What is checked before anything is measured: is this the world that was asked for, and can it be measured
// in?
#include <cstdio>
#include <map>
#include <thread>

#include "core/device.hpp"
#include "core/error.hpp"
#include "mpi/launcher.hpp"
#include "mpi/world.hpp"

namespace weft {

namespace {

std::string counted(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

void World::declare(Options& options) {
  options.add("expect-ranks", "N", "how many ranks were asked for, 0: any; another number ends the program",
              "0");
  options.add("expect-nodes", "N", "how many nodes were asked for, 0: any; another number ends the program",
              "0");
  options.add("expect-ranks-per-node", "N",
              "how many ranks were asked for on each node, 0: any; another number on any ends the program",
              "0");
}

/// "n1 has 3 ranks, n2 has 1 rank", of the nodes that have another number than `expected`.
std::string World::misplaced(int expected) const {
  std::map<int, int> ranks_of_node;
  for (const int node : nodes_of_ranks_)
    ++ranks_of_node[node];
  std::string text;
  for (const auto& [node, ranks] : ranks_of_node)
    if (ranks != expected)
      text += (text.empty() ? "" : ", ") + hosts_[node] + " has " + counted(ranks, "rank");
  return text;
}

void World::check_geometry(const Options& options) const {
  const int most = 1 << 24;
  const auto ranks = static_cast<int>(options.integer("expect-ranks", 0, most));
  const auto nodes = static_cast<int>(options.integer("expect-nodes", 0, most));
  const auto on_each = static_cast<int>(options.integer("expect-ranks-per-node", 0, most));
  if (size_ == 1 && launched_size_.value_or(1) > 1) {
    // Launchers end all processes when the first one fails: the one that leads is to have said why before.
    if (!leads()) std::this_thread::sleep_for(std::chrono::seconds(2));
    throw UsageError("The launcher (" + launcher_words() + ") started " + std::to_string(*launched_size_) +
                     " processes, but MPI joins none of them: the program's library, " +
                     library_.substr(0, library_.find(',')) +
                     ", does not speak with it; take that library's own launcher, another --mpi of srun "
                     "(srun --mpi=list), "
                     "or the launcher's version of PMIx in the image.");
  }
  if (ranks != 0 && ranks != size_)
    throw UsageError(
        "--expect-ranks asks for " + counted(ranks, "rank") + ", but MPI sees " + std::to_string(size_) +
        (size_ == 1
             ? "; start the program with its MPI launcher, e.g. mpirun -n " + std::to_string(ranks) + "."
             : "; change the launcher's number of ranks or the option."));
  if (nodes != 0 && nodes != nodes_)
    throw UsageError("--expect-nodes asks for " + counted(nodes, "node") + ", but the ranks are on " +
                     std::to_string(nodes_) + "; change the launcher's placement or the option.");
  if (const std::string others = on_each != 0 ? misplaced(on_each) : ""; !others.empty())
    throw UsageError("--expect-ranks-per-node asks for " + counted(on_each, "rank") + " on each node, but " +
                     others + "; change the launcher's placement or the option.");
  if (!shares_memory_.value_or(true))
    throw UsageError(
        "Ranks of one node do not see the same /dev/shm, through which MPI passes their messages; run the "
        "containers of a node with the host's (Apptainer: without --contain, --containall and --ipc).");
  if (!problem_.empty()) throw UsageError(problem_);
  for (int rank = 0; backend() == Backend::cuda && rank < size_; ++rank)
    if (device_counts_[rank] == 0)
      throw UsageError("Rank " + std::to_string(rank) + " finds no CUDA device on " + hosts_[rank] +
                       "; start it where there is one, or use the programs of the host backend.");
  if (leads() && !cross_memory_attach_.value_or(true) && !options.is_set("quiet"))
    std::fprintf(
        stderr,
        "%s: note: ranks of one node may not read each other's memory (process_vm_readv), so that "
        "MPI copies large messages twice there; containers in user namespaces of their own do that.\n",
        options.program().c_str());
}

}  // namespace weft
