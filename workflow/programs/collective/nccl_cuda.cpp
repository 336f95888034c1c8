// Collectives by NCCL, one process a device; MPI only brings the ranks together.
#include <nccl.h>

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

class Nccl : public Library {
 public:
  Nccl(RankTeam& team, int rank, int ranks, int device)
      : team_(team), stream_(device), start_(device), end_(device) {
    ncclUniqueId id{};
    if (rank == 0) WEFT_NCCL(ncclGetUniqueId(&id));
    WEFT_MPI(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, team.communicator()));
    const DeviceGuard guard(device);
    WEFT_NCCL(ncclCommInitRank(&communicator_, ranks, id, rank));
  }

  ~Nccl() override {
    const ncclResult_t result = ncclCommDestroy(communicator_);
    if (result != ncclSuccess)
      report_call("NCCL", "ncclCommDestroy", ncclGetErrorString(result), __FILE__, __LINE__);
  }

  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  double run(const Operation& operation, const Call& call, std::size_t operations) override {
    const DeviceGuard guard(stream_.device());
    const ncclDataType_t datatype = weft::collective::native(call.datatype);
    const ncclRedOp_t reduction = weft::collective::native(call.reduction);
    team_.barrier();
    start_.record(stream_);
    for (std::size_t i = 0; i < operations; ++i)
      check_nccl(operation.nccl(call, datatype, reduction, communicator_, weft::native(stream_)),
                 operation.key, __FILE__, __LINE__);
    end_.record(stream_);
    stream_.synchronize();
    ncclResult_t asynchronous = ncclSuccess;
    WEFT_NCCL(ncclCommGetAsyncError(communicator_, &asynchronous));
    WEFT_NCCL(asynchronous);
    return end_.seconds_since(start_);
  }

  const char* timer() const override { return "device_events"; }

 private:
  RankTeam& team_;
  Stream stream_;
  Event start_, end_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::unique_ptr<Library> join_nccl(RankTeam& team, int rank, int ranks, int device) {
  return std::make_unique<Nccl>(team, rank, ranks, device);
}

Json nccl_version() {
  int version = 0;
  WEFT_NCCL(ncclGetVersion(&version));
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace weft::collective
