// Two ranks pass a number round; any other count, as when each rank is a world of its own, is an error.
#include <mpi.h>

#include <cstdio>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int sent = rank;
  int received = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 0, &received, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::printf("rank %d of %d received %d\n", rank, size, received);
  MPI_Finalize();
  return size == 2 && received == 1 - rank ? 0 : 1;
}
