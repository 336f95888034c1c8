#include "mpi/world.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <thread>

#include "core/device.hpp"
#include "core/error.hpp"
#include "mpi/cuda_aware.hpp"
#include "mpi/launcher.hpp"

namespace weft {

namespace {

/// Selects the rank's device, so that MPI_Init finds it; returns how many there are. Nothing to do on the
/// host.
int choose_device([[maybe_unused]] int local_rank) {
#if WEFT_BACKEND_CUDA
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    (void)cudaGetLastError();  // no device is for the program to say, when it needs one
    return 0;
  }
  WEFT_CUDA(cudaSetDevice(local_rank % count));
  WEFT_CUDA(cudaFree(nullptr));  // makes the context
  return count;
#else
  return 0;
#endif
}

template <class Value>
std::vector<Value> gather_all(const Value& mine, MPI_Datatype datatype, int count, int ranks) {
  std::vector<Value> all(ranks);
  WEFT_MPI(MPI_Allgather(&mine, count, datatype, all.data(), count, datatype, MPI_COMM_WORLD));
  return all;
}

struct ProcessorName {
  char text[MPI_MAX_PROCESSOR_NAME] = {};
};

std::string counted(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

World::World(int& argc, char**& argv) : RankTeam(MPI_COMM_WORLD) {
  const Launcher launcher = read_launcher();
  launched_rank_ = launcher.rank.value_or(0);
  launched_size_ = launcher.size;
  const int device_count = choose_device(launcher.local_rank.value_or(0));
  int provided = 0;
  // Only this thread calls MPI; the device layer has others.
  WEFT_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
  try {
    WEFT_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    WEFT_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    WEFT_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size_));
    join(launcher.local_rank.value_or(-1), device_count);
  } catch (const std::exception& exception) {
    abort(exception.what());
  }
}

World::~World() {
  if (MPI_Finalize() != MPI_SUCCESS)
    report_call("MPI", "MPI_Finalize", "MPI could not be shut down", __FILE__, __LINE__);
}

void World::join(int launched_local_rank, int device_count) {
  ProcessorName name;
  int length = 0;
  WEFT_MPI(MPI_Get_processor_name(name.text, &length));
  for (const auto& host : gather_all(name, MPI_CHAR, MPI_MAX_PROCESSOR_NAME, size_))
    hosts_.emplace_back(host.text);

  MPI_Comm node;
  int local_rank = 0, first_of_node = rank_;
  WEFT_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  WEFT_MPI(MPI_Comm_rank(node, &local_rank));
  WEFT_MPI(MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node));
  WEFT_MPI(MPI_Comm_free(&node));
  const auto node_of_rank = gather_all(first_of_node, MPI_INT, 1, size_);
  nodes_ = static_cast<int>(std::set<int>(node_of_rank.begin(), node_of_rank.end()).size());

  device_counts_ = gather_all(device_count, MPI_INT, 1, size_);
  local_ranks_ = gather_all(launched_local_rank, MPI_INT, 1, size_);
  std::set<std::pair<int, int>> distinct;
  for (int rank = 0; rank < size_; ++rank)
    if (local_ranks_[rank] >= 0) distinct.emplace(node_of_rank[rank], local_ranks_[rank]);
  if (static_cast<int>(distinct.size()) == size_) return;
  // The launcher says nothing, or nothing true; a device chosen by it is the wrong one.
  local_ranks_ = gather_all(local_rank, MPI_INT, 1, size_);
  if (backend() == Backend::cuda && size_ > nodes_)
    problem_ =
        "The launcher does not number the ranks of a node (OMPI_COMM_WORLD_LOCAL_RANK, "
        "MV2_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID, PALS_LOCAL_RANKID or SLURM_LOCALID), so that they "
        "cannot choose their devices before MPI starts; set one of these for each rank.";
}

int World::device_of(int rank) const {
  const int count = backend() == Backend::cuda ? device_counts_[rank] : device_count();
  return local_ranks_[rank] % count;
}

Json World::geometry() const {
  Json devices = Json::array();
  for (int rank = 0; rank < size_; ++rank)
    devices.push(device_of(rank));
  return Json::object(
      {{"ranks", size_}, {"nodes", nodes_}, {"rank_hosts", hosts_}, {"rank_devices", devices}});
}

void World::declare(Options& options) {
  options.add("expect-ranks", "N", "how many ranks were asked for, 0: any; another number ends the program",
              "0");
  options.add("expect-nodes", "N", "how many nodes were asked for, 0: any; another number ends the program",
              "0");
}

void World::check_geometry(const Options& options) const {
  const int most = 1 << 24;
  const auto ranks = static_cast<int>(options.integer("expect-ranks", 0, most));
  const auto nodes = static_cast<int>(options.integer("expect-nodes", 0, most));
  if (size_ == 1 && launched_size_.value_or(1) > 1) {
    // Launchers end all processes when the first one fails: the one that leads is to have said why before.
    if (!leads()) std::this_thread::sleep_for(std::chrono::seconds(2));
    throw UsageError(
        "The launcher started " + std::to_string(*launched_size_) +
        " processes, but MPI joins none of them: the program's MPI library is not the launcher's; "
        "start it with the launcher of the MPI it was built with.");
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
  if (!problem_.empty()) throw UsageError(problem_);
  for (int rank = 0; backend() == Backend::cuda && rank < size_; ++rank)
    if (device_counts_[rank] == 0)
      throw UsageError("Rank " + std::to_string(rank) + " finds no CUDA device on " + hosts_[rank] +
                       "; start it where there is one, or use the programs of the host backend.");
}

Json World::software() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0, version = 0, subversion = 0;
  WEFT_MPI(MPI_Get_library_version(text, &length));
  WEFT_MPI(MPI_Get_version(&version, &subversion));
  std::string library(text, std::min<std::size_t>(length, sizeof text));
  library.erase(std::min(library.find_first_of(std::string("\n\0", 2)), library.size()));
  return Json::object({{"mpi_library", library},
                       {"mpi_standard", std::to_string(version) + "." + std::to_string(subversion)},
                       {"mpi_cuda_aware", mpi_is_cuda_aware()}});
}

bool World::takes_device_buffers() const {
  return backend() == Backend::host || mpi_is_cuda_aware().value_or(false);
}

bool World::leads() const { return size_ == 1 ? launched_rank_ == 0 : rank_ == 0; }

void World::wait_idle() const {
  MPI_Request request;
  WEFT_MPI(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  for (int done = 0; !done;) {
    WEFT_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (!done) std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

void World::prepare_together(const std::function<void()>& prepare) {
  enum Kind { fine, unsupported, failed };
  int mine = fine;
  std::string message;
  const auto note = [&](Kind kind, const std::exception& exception) {
    mine = kind;
    message = "rank " + std::to_string(rank_) + ": " + exception.what();
  };
  try {
    prepare();
  } catch (const Unsupported& exception) {
    note(unsupported, exception);
  } catch (const std::exception& exception) {
    note(failed, exception);
  }
  const int worst = static_cast<int>(communicate([&] { return maximum(mine); }));
  if (worst == fine) return;
  const std::string told = communicate([&] { return words(mine == worst ? message : ""); });
  if (worst == unsupported) throw Unsupported(told);
  throw std::runtime_error(told);
}

void World::abort(const std::string& message) const {
  std::fprintf(stderr, "weft: rank %d of %d: %s\n", rank_, size_, message.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();  // MPI_Abort does not return
}

}  // namespace weft
