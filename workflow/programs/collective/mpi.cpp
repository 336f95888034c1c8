// Collectives by MPI, on the buffers of the devices.
#include "collective/library.hpp"

namespace weft::collective {

namespace {

MPI_Datatype native(Datatype datatype) {
  switch (datatype) {
  case Datatype::float32:
    return MPI_FLOAT;
  case Datatype::float64:
    return MPI_DOUBLE;
  case Datatype::int32:
    return MPI_INT32_T;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op native(Reduction reduction) {
  switch (reduction) {
  case Reduction::sum:
    return MPI_SUM;
  case Reduction::max:
    return MPI_MAX;
  case Reduction::min:
    return MPI_MIN;
  }
  return MPI_OP_NULL;
}

class MpiWork : public Work {
 public:
  MpiWork(MPI_Comm communicator, const Operation& operation, const Call& call)
      : communicator_(communicator), operation_(operation), call_(call) {}

  double run(std::size_t operations) override {
    const MPI_Datatype datatype = native(call_.datatype);
    const MPI_Op reduction = native(call_.reduction);
    WEFT_MPI(MPI_Barrier(communicator_));
    const double start_s = MPI_Wtime();
    for (std::size_t i = 0; i < operations; ++i)
      check_mpi(operation_.mpi(call_, datatype, reduction, communicator_), operation_.key, __FILE__,
                __LINE__);
    return MPI_Wtime() - start_s;
  }

 private:
  MPI_Comm communicator_;
  Operation operation_;
  Call call_;
};

class Mpi : public Library {
 public:
  explicit Mpi(RankTeam& team) : communicator_(team.communicator()) {}

  std::unique_ptr<Work> prepare(const Operation& operation, std::vector<Call> calls, bool) override {
    return std::make_unique<MpiWork>(communicator_, operation, calls.front());
  }

  const char* timer() const override { return "host_clock"; }

 private:
  MPI_Comm communicator_;
};

}  // namespace

std::unique_ptr<Library> join_mpi(RankTeam& team) { return std::make_unique<Mpi>(team); }

}  // namespace weft::collective
