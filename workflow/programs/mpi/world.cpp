#include "mpi/world.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "core/cores.hpp"
#include "core/device.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "mpi/cuda_aware.hpp"
#include "mpi/launcher.hpp"
#include "mpi/node.hpp"

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

/// The worst answer of all ranks that have one; empty where none has.
std::optional<bool> everywhere(std::optional<bool> mine, int ranks) {
  enum Answer { no, yes, none };
  const auto answers = gather_all(mine ? (*mine ? int{yes} : int{no}) : int{none}, MPI_INT, 1, ranks);
  const int worst = *std::min_element(answers.begin(), answers.end());
  if (worst == none) return std::nullopt;
  return worst == yes;
}

/// The first line, blanks in a row as one: MPICH fills many lines, of which the first has the version.
std::string first_line(const std::string& text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\0') break;
    const bool blank = std::isspace(static_cast<unsigned char>(letter)) != 0;
    if (!blank || (!line.empty() && line.back() != ' ')) line += blank ? ' ' : letter;
  }
  return line;
}

}  // namespace

World::World(int& argc, char**& argv) : RankTeam(MPI_COMM_WORLD) {
  const Launcher launcher = read_launcher();
  launched_rank_ = launcher.rank.value_or(0);
  launched_size_ = launcher.size;
  watchdog::start(std::filesystem::path(argv[0]).filename(), watchdog::limit_s_of(argc, argv));
  watchdog::set_self("rank " + std::to_string(launched_rank_) +
                     (launched_size_ ? " of " + std::to_string(*launched_size_) : "") + " on " + hostname());
  const Activity activity("MPI_Init");
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
  std::vector<std::string> members;
  for (int rank = 0; rank < size_; ++rank)
    members.push_back("rank " + std::to_string(rank) + " on " + hosts_[rank]);
  watchdog::set_members(std::move(members), rank_);
  watchdog::set_end([](int status) { MPI_Abort(MPI_COMM_WORLD, status); });
}

World::~World() {
  const Activity activity("MPI_Finalize");
  watchdog::set_end({});
  if (MPI_Finalize() != MPI_SUCCESS)
    report_call("MPI", "MPI_Finalize", "MPI could not be shut down", __FILE__, __LINE__);
}

void World::join(int launched_local_rank, int device_count) {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  WEFT_MPI(MPI_Get_processor_name(name, &length));
  hosts_ = everyones(std::string(name, static_cast<std::size_t>(length)));
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  WEFT_MPI(MPI_Get_library_version(library, &length));
  library_ = first_line(std::string(library, static_cast<std::size_t>(length)));
  cpus_ = everyones(format_cpu_list(usable_cores()));

  MPI_Comm node;
  int local_rank = 0, first_of_node = rank_;
  WEFT_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  WEFT_MPI(MPI_Comm_rank(node, &local_rank));
  WEFT_MPI(MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node));
  const NodeSharing sharing = probe_node(node);
  WEFT_MPI(MPI_Comm_free(&node));
  nodes_of_ranks_ = gather_all(first_of_node, MPI_INT, 1, size_);
  nodes_ = static_cast<int>(std::set<int>(nodes_of_ranks_.begin(), nodes_of_ranks_.end()).size());
  shares_memory_ = everywhere(sharing.shared_memory, size_);
  cross_memory_attach_ = everywhere(sharing.cross_memory_attach, size_);

  device_counts_ = gather_all(device_count, MPI_INT, 1, size_);
  local_ranks_ = gather_all(launched_local_rank, MPI_INT, 1, size_);
  std::set<std::pair<int, int>> distinct;
  for (int rank = 0; rank < size_; ++rank)
    if (local_ranks_[rank] >= 0) distinct.emplace(nodes_of_ranks_[rank], local_ranks_[rank]);
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
  return Json::object({{"ranks", size_},
                       {"nodes", nodes_},
                       {"rank_hosts", hosts_},
                       {"rank_devices", devices},
                       {"rank_cpus", cpus_}});
}

Json World::software() const {
  int version = 0, subversion = 0;
  WEFT_MPI(MPI_Get_version(&version, &subversion));
  return Json::object({{"mpi_library", library_},
                       {"mpi_standard", std::to_string(version) + "." + std::to_string(subversion)},
                       {"mpi_cuda_aware", mpi_is_cuda_aware()},
                       {"cross_memory_attach", cross_memory_attach_}});
}

bool World::takes_device_buffers() const {
  return backend() == Backend::host || mpi_is_cuda_aware().value_or(false);
}

Json World::self() const { return Json::object({{"rank", rank_}, {"host", hosts_[rank_]}}); }

bool World::leads() const { return size_ == 1 ? launched_rank_ == 0 : rank_ == 0; }

void World::wait_idle(Patience patience) const {
  const Activity activity("", {}, patience);
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
