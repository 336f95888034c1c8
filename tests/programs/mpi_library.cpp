// The world, its teams and its transports, under the MPI launcher. With --throw-while-others-wait it does
// just that.

// ranks: 2 3 5
#define CHECK_OWN_MAIN
#include <optional>

#include "check.hpp"
#include "core/device.hpp"
#include "core/error.hpp"
#include "core/pattern.hpp"
#include "mpi/transport.hpp"
#include "mpi/world.hpp"

using namespace weft;

namespace {

World* world = nullptr;

constexpr std::uint64_t poison = 1;

/// All ranks in a ring send to the right and receive from the left at once, `messages` times into places of
/// their own; returns the wrong bytes.
std::uint64_t wrong_around_the_ring(Memory placement, const Traffic& traffic, std::size_t capacity_bytes) {
  const int right = (world->rank() + 1) % world->size();
  const int left = (world->rank() + world->size() - 1) % world->size();
  const std::size_t total = traffic.message_bytes * traffic.messages;
  Buffer outgoing(Memory::device, world->device(), total), incoming(Memory::device, world->device(), total);
  fill_pattern(outgoing, 0, total, 100 + world->rank());
  fill_pattern(incoming, 0, total, poison);
  const auto transport = make_transport(*world, placement, capacity_bytes);
  transport->expect(traffic);
  for (std::size_t i = 0; i < traffic.messages; ++i)
    transport->start_receive({{&incoming, i * traffic.message_bytes}, traffic.message_bytes, left});
  for (std::size_t i = 0; i < traffic.messages; ++i)
    transport->start_send({{&outgoing, i * traffic.message_bytes}, traffic.message_bytes, right});
  transport->finish();
  return count_wrong_bytes(incoming, 0, total, 100 + left);
}

std::uint64_t wrong_around_the_ring(Memory placement, const Traffic& traffic) {
  return wrong_around_the_ring(placement, traffic, staging_bytes(traffic));
}

/// Rank 0 sends to rank 1 by blocking calls, if this is one of them.
std::uint64_t wrong_when_blocking(Memory placement, const Traffic& traffic) {
  if (world->rank() > 1) return 0;
  const std::size_t size_bytes = traffic.message_bytes;
  Buffer buffer(Memory::device, world->device(), size_bytes);
  fill_pattern(buffer, 0, size_bytes, world->rank() == 0 ? 7 : poison);
  const auto transport = make_transport(*world, placement, staging_bytes(traffic));
  transport->expect(traffic);
  if (world->rank() == 0)
    transport->send({{&buffer, 0}, size_bytes, 1});
  else
    transport->receive({{&buffer, 0}, size_bytes, 0});
  return count_wrong_bytes(buffer, 0, size_bytes, 7);
}

const Memory placements[] = {Memory::device, Memory::pinned, Memory::pageable};

int throw_while_others_wait() {
  world->communicate([] {
    if (world->rank() == 1) throw std::runtime_error("rank 1 gave up on purpose");
    int never = 0;
    WEFT_MPI(MPI_Recv(&never, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  });
  return 0;
}

}  // namespace

TEST(messages_of_any_size_arrive_by_every_transport) {
  for (const Memory placement : placements)
    for (const std::size_t size_bytes : {1u, 7u, 4096u, 65537u, 3000001u}) {
      CHECK_EQ(wrong_around_the_ring(placement, {size_bytes, 0, 3}), 0u);
      CHECK_EQ(wrong_when_blocking(placement, {size_bytes, 0, 1}), 0u);
    }
}

TEST(chunks_arrive_in_place_by_every_transport) {
  for (const Memory placement : placements)
    for (const std::size_t chunk_bytes : {1000u, 65536u, 999999u, 1000000u, 5000000u}) {
      CHECK_EQ(wrong_around_the_ring(placement, {1000000, chunk_bytes, 2}), 0u);
      CHECK_EQ(wrong_when_blocking(placement, {1000000, chunk_bytes, 1}), 0u);
    }
}

// Pieces too large to be sent before they are received, and room for three: a transport that finished one
// direction first would hang here, as all its peers did the same.
TEST(many_pieces_pass_both_ways_through_few_slots) {
  for (const Memory placement : placements)
    CHECK_EQ(wrong_around_the_ring(placement, {2000000, 100000, 2}, 3 * 100096), 0u);
}

// More than twice the pieces that a transport keeps under way, too large to be sent before they are received.
TEST(a_flood_of_pieces_passes_both_ways) {
  for (const Memory placement : placements)
    CHECK_EQ(wrong_around_the_ring(placement, {28000000, 40000, 1}), 0u);
}

TEST(a_transport_serves_other_traffic_within_its_capacity) {
  for (const Memory placement : placements) {
    if (world->rank() > 1) continue;
    const auto transport = make_transport(*world, placement, 1 << 20);
    Buffer buffer(Memory::device, world->device(), 1 << 20);
    for (const Traffic& traffic : {Traffic{1 << 20, 0, 1}, Traffic{1 << 20, 1 << 12, 1}, Traffic{64, 0, 9}}) {
      transport->expect(traffic);
      fill_pattern(buffer, 0, traffic.message_bytes, world->rank() == 0 ? 7 : poison);
      for (std::size_t i = 0; i < traffic.messages; ++i) {
        const Message message{{&buffer, 0}, traffic.message_bytes, 1 - world->rank()};
        world->rank() == 0 ? transport->start_send(message) : transport->start_receive(message);
      }
      transport->finish();
      world->rank() == 0 ? transport->receive_reply(1) : transport->send_reply(0);
      CHECK_EQ(count_wrong_bytes(buffer, 0, traffic.message_bytes, 7), 0u);
    }
  }
}

TEST(the_world_agrees) {
  const double rank = world->rank(), last = world->size() - 1;
  CHECK_EQ(world->maximum(rank), last);
  CHECK_EQ(world->sum(1.0), world->size());
  CHECK_EQ(world->leaders(rank), 0.0);
  CHECK_EQ(world->leads(), world->rank() == 0);
  CHECK_EQ(world->words(rank == last ? "from the last" : ""), std::string("from the last"));
  CHECK_EQ(world->words(""), std::string());
}

TEST(a_team_of_two_leaves_the_others_alone) {
  if (world->rank() <= 1) {
    Subteam team({1, 0});
    CHECK_EQ(team.leads(), world->rank() == 1);
    CHECK_EQ(team.leaders(world->rank()), 1.0);
    CHECK_EQ(team.sum(1.0), 2.0);
  }
  world->wait_idle();
}

TEST(what_one_rank_cannot_prepare_none_has) {
  const int last = world->size() - 1;
  const auto refuse = [&] {
    if (world->rank() == last) throw Unsupported("no such thing");
  };
  const std::string words = CHECK_THROWS(world->prepare_together(refuse), Unsupported);
  CHECK_EQ(words, "rank " + std::to_string(last) + ": no such thing");
  world->prepare_together([] {});
}

TEST(a_failed_call_says_rank_call_place_and_reason) {
  const int nobody = world->size() + 5, line = __LINE__;
  const std::string words =
      CHECK_THROWS(WEFT_MPI(MPI_Send(&nobody, 1, MPI_INT, nobody, 0, MPI_COMM_WORLD)), CallError);
  CHECK(words.find('\n') == std::string::npos);
  for (const std::string& part :
       {"rank " + std::to_string(world->rank()), std::string("MPI_Send(&nobody"),
        std::string("mpi_library.cpp"), std::to_string(line + 2), std::string("nvalid rank")})
    if (words.find(part) == std::string::npos) check::fail(__FILE__, __LINE__, part + " is not in: " + words);
}

int main(int argc, char** argv) {
  World joined(argc, argv);
  world = &joined;
  if (argc == 2 && std::string(argv[1]) == "--throw-while-others-wait") return throw_while_others_wait();
  return check::run(argc, argv);
}
