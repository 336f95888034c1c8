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

class Mpi : public Library {
 public:
  explicit Mpi(RankTeam& team) : communicator_(team.communicator()) {}

  double run(const Operation& operation, const Call& call, std::size_t operations) override {
    const MPI_Datatype datatype = native(call.datatype);
    const MPI_Op reduction = native(call.reduction);
    WEFT_MPI(MPI_Barrier(communicator_));
    const double start_s = MPI_Wtime();
    for (std::size_t i = 0; i < operations; ++i)
      check_mpi(operation.mpi(call, datatype, reduction, communicator_), operation.key, __FILE__, __LINE__);
    return MPI_Wtime() - start_s;
  }

  const char* timer() const override { return "host_clock"; }

 private:
  MPI_Comm communicator_;
};

}  // namespace

std::unique_ptr<Library> join_mpi(RankTeam& team) { return std::make_unique<Mpi>(team); }

}  // namespace weft::collective
