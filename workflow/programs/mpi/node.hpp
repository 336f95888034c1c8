// What the ranks of one node share: memory, and the right to read each other's.
#pragma once

#include <mpi.h>

#include <optional>

namespace weft {

/// What a rank finds out with the others of its node; empty where it is the only one there.
struct NodeSharing {
  std::optional<bool> shared_memory;  ///< POSIX shared memory of the first of them is there for this one
  std::optional<bool> cross_memory_attach;  ///< may read the next one's memory, as the MPI library left it
};

/// `node`: the ranks that run on one host. Called by all of them together.
NodeSharing probe_node(MPI_Comm node);

}  // namespace weft
