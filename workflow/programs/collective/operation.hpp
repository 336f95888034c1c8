// A collective operation as a table: who sends and receives how much, what must arrive, how each library is
// called.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "collective/datatype.hpp"

#if WEFT_BACKEND_CUDA
#include <nccl.h>
#endif

namespace weft::collective {

enum class LibraryName { mpi, nccl };
constexpr const char* library_names[] = {"mpi", "nccl"};

/// What NCCL's algorithms are for an operation; none: it is made of sends and receives.
enum class NcclAlgorithms { none, ring, ring_and_tree };

/// One call, as a rank sees it. Counts are elements; `count` is nccl-tests': of a block where the operation
/// has blocks.
struct Call {
  void* send;
  void* receive;
  std::size_t count;
  int rank, ranks, root;
  bool in_place;
  LibraryName library;
  Datatype datatype;
  Reduction reduction;
};

/// What a rank finds in its receive buffer. Element i is that of `peer` (of peer i / block where `by_block`)
/// at `offset` + i (i % block), or the reduction of all ranks' elements there.
struct Expectation {
  bool receives = true;
  bool by_block = false;
  bool reduced = false;
  int peer = 0;
  std::size_t offset = 0;
};

struct Operation {
  const char* key;
  const char* sentence;
  bool sends_blocks;     ///< the sender holds a block for every rank
  bool receives_blocks;  ///< the receiver gets a block from every rank
  bool reduces;
  bool rooted;
  /// bus bandwidth / algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
  double (*bus_factor)(int ranks);
  Expectation (*expects)(const Call& call);
  /// In place: where in the one buffer a rank's input and output begin, in blocks.
  std::size_t (*input_block)(const Call& call);
  std::size_t (*output_block)(const Call& call);
  /// nullptr, or why MPI cannot do it out of place or in place.
  const char* (*mpi_refuses)(bool in_place);
  int (*mpi)(const Call& call, MPI_Datatype datatype, MPI_Op reduction, MPI_Comm communicator);
  const char* (*nccl_refuses)(bool in_place);
  NcclAlgorithms nccl_algorithms;
#if WEFT_BACKEND_CUDA
  ncclResult_t (*nccl)(const Call& call, ncclDataType_t datatype, ncclRedOp_t reduction,
                       ncclComm_t communicator, cudaStream_t stream);
#endif

  bool has_blocks() const { return sends_blocks || receives_blocks; }
};

// Entries of the table that several operations share.
inline std::size_t first_block(const Call&) { return 0; }
inline std::size_t own_block(const Call& call) { return static_cast<std::size_t>(call.rank); }
inline const char* never_refuses(bool) { return nullptr; }
inline double factor_one(int) { return 1; }
inline double factor_others(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

/// The benchmark of an operation: registers its cases.
struct RegisteredOperation {
  explicit RegisteredOperation(const Operation& operation);
};

/// The count as MPI-3's interface takes it; throws Unsupported beyond 2^31 - 1 elements.
int mpi_count(std::size_t count);

}  // namespace weft::collective
