#include <numeric>

#include "core/error.hpp"
#include "mpi/world.hpp"

namespace weft {

namespace {

double reduce(double value, MPI_Op operation, MPI_Comm communicator) {
  double result = value;
  WEFT_MPI(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, communicator));
  return result;
}

}  // namespace

/// MPICH's words are a stack of lines.
static std::string one_line(std::string words) {
  for (std::size_t end; (end = words.find('\n')) != std::string::npos;)
    words.replace(end, 1, end + 1 < words.size() ? "; " : "");
  return words;
}

void throw_mpi(int status, const char* call, const char* file, int line) {
  char words[MPI_MAX_ERROR_STRING] = "no explanation";
  int length = 0, rank = -1;
  MPI_Error_string(status, words, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  throw CallError("MPI", call, "rank " + std::to_string(rank) + ": " + one_line(words), file, line);
}

bool RankTeam::leads() const {
  int rank = 0;
  WEFT_MPI(MPI_Comm_rank(communicator_, &rank));
  return rank == 0;
}

double RankTeam::leaders(double value) {
  WEFT_MPI(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, communicator_));
  return value;
}

double RankTeam::maximum(double value) { return reduce(value, MPI_MAX, communicator_); }
double RankTeam::sum(double value) { return reduce(value, MPI_SUM, communicator_); }

std::string RankTeam::words(const std::string& mine) {
  int rank = 0, size = 0;
  WEFT_MPI(MPI_Comm_rank(communicator_, &rank));
  WEFT_MPI(MPI_Comm_size(communicator_, &size));
  const int candidate = mine.empty() ? size : rank;
  int first = size;
  WEFT_MPI(MPI_Allreduce(&candidate, &first, 1, MPI_INT, MPI_MIN, communicator_));
  if (first == size) return "";
  std::string words = mine;
  auto length = static_cast<int>(words.size());
  WEFT_MPI(MPI_Bcast(&length, 1, MPI_INT, first, communicator_));
  words.resize(length);
  WEFT_MPI(MPI_Bcast(words.data(), length, MPI_CHAR, first, communicator_));
  return words;
}

std::vector<std::string> RankTeam::everyones(const std::string& mine) {
  int size = 0;
  WEFT_MPI(MPI_Comm_size(communicator_, &size));
  const auto length = static_cast<int>(mine.size());
  std::vector<int> lengths(static_cast<std::size_t>(size)), offsets(lengths.size());
  WEFT_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_));
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), ' ');
  WEFT_MPI(MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                          communicator_));
  std::vector<std::string> words;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank)
    words.push_back(
        all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
  return words;
}

void RankTeam::barrier() { WEFT_MPI(MPI_Barrier(communicator_)); }

Subteam::Subteam(const std::vector<int>& ranks) : RankTeam(MPI_COMM_NULL) {
  MPI_Group world, members;
  WEFT_MPI(MPI_Comm_group(MPI_COMM_WORLD, &world));
  WEFT_MPI(MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &members));
  WEFT_MPI(MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &communicator_));
  WEFT_MPI(MPI_Group_free(&members));
  WEFT_MPI(MPI_Group_free(&world));
  WEFT_MPI(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN));
}

Subteam::~Subteam() {
  if (communicator_ == MPI_COMM_NULL) return;
  if (MPI_Comm_free(&communicator_) != MPI_SUCCESS)
    report_call("MPI", "MPI_Comm_free", "a team of ranks could not be freed", __FILE__, __LINE__);
}

}  // namespace weft
