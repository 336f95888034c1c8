// Collectives by NCCL, one process a device or one for all; MPI only brings the processes together.
#include <nccl.h>

#include <algorithm>

#include "collective/library.hpp"
#include "core/error.hpp"

#define WEFT_NCCL(call) check_nccl((call), #call, __FILE__, __LINE__)

namespace weft::collective {

namespace {

void check_nccl(ncclResult_t result, const char* call, const char* file, int line) {
  if (result != ncclSuccess)
    throw CallError("NCCL", call, std::string(ncclGetErrorString(result)) + "; " + ncclGetLastError(nullptr),
                    file, line);
}

ncclDataType_t native(Datatype datatype) {
  switch (datatype) {
  case Datatype::float32:
    return ncclFloat32;
  case Datatype::float64:
    return ncclFloat64;
  case Datatype::int32:
    return ncclInt32;
  }
  return ncclNumTypes;
}

ncclRedOp_t native(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return ncclSum;
  case Reduction::max:
    return ncclMax;
  case Reduction::min:
    return ncclMin;
  }
  return ncclNumOps;
}

/// A member's place in the operation: its communicator, stream and events.
struct Seat {
  explicit Seat(int device) : stream(device), start(device), end(device) {}
  ~Seat() {
    if (!communicator) return;
    const ncclResult_t result = ncclCommDestroy(communicator);
    if (result != ncclSuccess)
      report_call("NCCL", "ncclCommDestroy", ncclGetErrorString(result), __FILE__, __LINE__);
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  ncclComm_t communicator = nullptr;
  Stream stream;
  Event start, end;
};

using Seats = std::vector<std::unique_ptr<Seat>>;

/// What a seat's stream was given while it was captured. Not weft::Graph: the members of one process are told
/// to NCCL as a group, so that all their streams are captured at once.
class Graph {
 public:
  /// Begins the capture.
  explicit Graph(const Seat& seat) : device_(seat.stream.device()), stream_(weft::native(seat.stream)) {
    const DeviceGuard guard(device_);
    WEFT_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  /// Ends it. Only when no stream of this thread is captured any more may the graph be made ready.
  void end() {
    const DeviceGuard guard(device_);
    WEFT_CUDA(cudaStreamEndCapture(stream_, &captured_));
  }
  void make_ready() {
    const DeviceGuard guard(device_);
    WEFT_CUDA(cudaGraphInstantiate(&executable_, captured_, 0));
    WEFT_CUDA(cudaGraphUpload(executable_, stream_));
  }
  ~Graph() {
    if (executable_) WEFT_CUDA_REPORT(cudaGraphExecDestroy(executable_));
    if (captured_) WEFT_CUDA_REPORT(cudaGraphDestroy(captured_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() const {
    const DeviceGuard guard(device_);
    WEFT_CUDA(cudaGraphLaunch(executable_, stream_));
  }

 private:
  int device_;
  cudaStream_t stream_;
  cudaGraph_t captured_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

class NcclWork : public Work {
 public:
  NcclWork(RankTeam& team, const Seats& seats, const Operation& operation, std::vector<Call> calls,
           bool graph)
      : team_(team), seats_(seats), operation_(operation), calls_(std::move(calls)), graph_(graph) {
    enqueue();  // NCCL connects at first use, which belongs into no sample and no graph
    synchronize();
  }

  double run(std::size_t operations) override {
    if (graph_ && operations != captured_) capture(operations);
    team_.barrier();
    for (const auto& seat : seats_)
      seat->start.record(seat->stream);
    if (graph_)
      for (const auto& graph : graphs_)
        graph->launch();
    else
      for (std::size_t i = 0; i < operations; ++i)
        enqueue();
    for (const auto& seat : seats_)
      seat->end.record(seat->stream);
    synchronize();
    double time_s = 0;
    for (const auto& seat : seats_)
      time_s = std::max(time_s, seat->end.seconds_since(seat->start));
    return time_s;
  }

 private:
  /// One operation of every member. Those of one process must be told to NCCL as a group: each alone would
  /// wait for the others.
  void enqueue() {
    const ncclDataType_t datatype = native(calls_.front().datatype);
    const ncclRedOp_t reduction = native(calls_.front().reduction);
    const bool several = seats_.size() > 1;
    if (several) WEFT_NCCL(ncclGroupStart());
    for (std::size_t i = 0; i < seats_.size(); ++i)
      check_nccl(operation_.nccl(calls_[i], datatype, reduction, seats_[i]->communicator,
                                 weft::native(seats_[i]->stream)),
                 operation_.key, __FILE__, __LINE__);
    if (several) WEFT_NCCL(ncclGroupEnd());
  }

  void capture(std::size_t operations) {
    captured_ = 0;
    graphs_.clear();
    for (const auto& seat : seats_)
      graphs_.push_back(std::make_unique<Graph>(*seat));
    for (std::size_t i = 0; i < operations; ++i)
      enqueue();
    for (const auto& graph : graphs_)
      graph->end();
    for (const auto& graph : graphs_)
      graph->make_ready();
    synchronize();
    captured_ = operations;
  }

  void synchronize() {
    for (const auto& seat : seats_) {
      seat->stream.synchronize();
      ncclResult_t asynchronous = ncclSuccess;
      WEFT_NCCL(ncclCommGetAsyncError(seat->communicator, &asynchronous));
      WEFT_NCCL(asynchronous);
    }
  }

  RankTeam& team_;
  const Seats& seats_;
  Operation operation_;
  std::vector<Call> calls_;
  bool graph_;
  std::size_t captured_ = 0;  ///< operations in graphs_
  std::vector<std::unique_ptr<Graph>> graphs_;
};

class Nccl : public Library {
 public:
  Nccl(RankTeam& team, const std::vector<Member>& members, int ranks) : team_(team) {
    ncclUniqueId id{};
    if (team.leads()) WEFT_NCCL(ncclGetUniqueId(&id));
    WEFT_MPI(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, team.communicator()));
    for (const Member& member : members)
      seats_.push_back(std::make_unique<Seat>(member.device));
    WEFT_NCCL(ncclGroupStart());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const DeviceGuard guard(members[i].device);
      WEFT_NCCL(ncclCommInitRank(&seats_[i]->communicator, ranks, id, members[i].rank));
    }
    WEFT_NCCL(ncclGroupEnd());
  }

  std::unique_ptr<Work> prepare(const Operation& operation, std::vector<Call> calls, bool graph) override {
    return std::make_unique<NcclWork>(team_, seats_, operation, std::move(calls), graph);
  }

  const char* timer() const override { return "device_events"; }

 private:
  RankTeam& team_;
  Seats seats_;
};

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
void* take_memory(int device, std::size_t size_bytes) {
  const DeviceGuard guard(device);
  // NCCL does not tell a full memory from any other failure.
  std::size_t free_bytes = 0, total_bytes = 0;
  WEFT_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  if (size_bytes > free_bytes) return nullptr;
  void* data = nullptr;
  WEFT_NCCL(ncclMemAlloc(&data, size_bytes));
  return data;
}

void give_memory_back(void* data) noexcept {
  const ncclResult_t result = ncclMemFree(data);
  if (result != ncclSuccess)
    report_call("NCCL", "ncclMemFree(data)", ncclGetErrorString(result), __FILE__, __LINE__);
}
#endif

}  // namespace

std::unique_ptr<Library> join_nccl(RankTeam& team, const std::vector<Member>& members, int ranks) {
  return std::make_unique<Nccl>(team, members, ranks);
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
const DeviceAllocator* nccl_allocator() {
  static const DeviceAllocator allocator{take_memory, give_memory_back};
  return &allocator;
}
#else
const DeviceAllocator* nccl_allocator() { return nullptr; }
#endif

Json nccl_version() {
  int version = 0;
  WEFT_NCCL(ncclGetVersion(&version));
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace weft::collective
