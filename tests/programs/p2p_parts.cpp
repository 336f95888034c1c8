// The parts of p2p that its records do not show: verification itself, copies of any size, relays, memory.
#include <algorithm>
#include <chrono>
#include <thread>

#include "check.hpp"
#include "core/error.hpp"
#include "core/pattern.hpp"
#include "p2p/copy_kernel.hpp"
#include "p2p/counters.hpp"
#include "p2p/memory.hpp"
#include "p2p/ping_pong.hpp"
#include "p2p/relay.hpp"
#include "p2p/transfer.hpp"

using namespace weft;

namespace {

constexpr std::size_t capacity_bytes = 1 << 20;

void copy_and_wait(Place destination, Place source, std::size_t size_bytes) {
  Stream stream(source.buffer->device());
  copy(stream, destination, source, size_bytes);
  stream.synchronize();
}

/// A copy of device memory that the host can look into.
Buffer seen_by_host(Place source, std::size_t size_bytes) {
  Buffer seen(Memory::pinned, source.buffer->device(), size_bytes);
  copy_and_wait({&seen}, source, size_bytes);
  return seen;
}

}  // namespace

TEST(a_ping_pong_without_answer_gives_up) {
  if (backend() == Backend::cuda)
    return;  // a GPU answers within the first polls, before patience is looked at
  set_host_devices(static_cast<int>(std::clamp(std::thread::hardware_concurrency() + 1, 4u, 256u)));
  // Two devices on one core: the answer comes after a change of threads, long after the patience of a few
  // polls.
  int other = 1;
  while (device_properties(other).cores != device_properties(0).cores)
    ++other;
  const PeerAccess access(0, other);
  PingPong ping_pong(0, other, 0.0);
  const auto message = CHECK_THROWS(ping_pong.time(100000), CallError);
  CHECK(message.find("gave up") != std::string::npos);
}

TEST(bytes_that_did_not_arrive_are_wrong) {
  Transfer transfer(0, 1, capacity_bytes);
  transfer.reset(1000);
  CHECK(transfer.wrong_bytes(1000) > 900);
  copy_and_wait(transfer.destination(), transfer.source(), 990);
  CHECK(transfer.wrong_bytes(1000) > 0 && transfer.wrong_bytes(1000) <= 10);
  copy_and_wait(transfer.destination(), transfer.source(), 1000);
  CHECK_EQ(transfer.wrong_bytes(1000), 0u);
}

TEST(a_destination_that_was_reset_holds_nothing_of_the_last_payload) {
  Transfer transfer(0, 1, capacity_bytes);
  copy_and_wait(transfer.destination(), transfer.source(), capacity_bytes);
  transfer.reset(1000);
  CHECK(transfer.wrong_bytes(1000) > 900);
}

TEST(bytes_behind_the_end_are_wrong) {
  Transfer transfer(0, 1, capacity_bytes);
  transfer.reset(1000);
  copy_and_wait(transfer.destination(), transfer.source(), 1064);
  CHECK(transfer.wrong_bytes(1000) > 50);
}

TEST(bytes_of_another_transfer_are_wrong) {
  Transfer one(0, 1, capacity_bytes), other(0, 1, capacity_bytes);
  one.reset(1000);
  copy_and_wait(one.destination(), other.source(), 1000);
  CHECK(one.wrong_bytes(1000) > 900);
}

TEST(a_write_is_done_by_the_source_and_a_read_by_the_destination) {
  const Transfer transfer(0, 1, 64);
  CHECK_EQ(transfer.executor("write"), 0);
  CHECK_EQ(transfer.executor("read"), 1);
}

TEST(both_engines_copy_every_size_exactly) {
  Transfer transfer(0, 1, capacity_bytes);
  const PeerAccess access(0, 1);
  std::vector<std::size_t> sizes{4095, 4096, 65537, capacity_bytes - 1, capacity_bytes};
  for (std::size_t size = 1; size <= 70; ++size)
    sizes.push_back(size);
  std::vector<std::optional<KernelGrid>> ways{std::nullopt, KernelGrid{}};
  if (backend() == Backend::cuda)
    for (const unsigned unroll : unrolls)
      for (const unsigned blocks : {1u, 3u, 264u})
        for (const unsigned threads : {32u, most_threads})
          ways.push_back(KernelGrid{blocks, threads, unroll});
  for (const auto& way : ways) {
    for (const std::size_t size : sizes) {
      // The grid of one thread is the host's: a kernel's blocks have a warp at least.
      if (way && way->threads == 1 && backend() == Backend::cuda) continue;
      transfer.reset(size);
      Stream stream(0);
      time_lanes({transfer.lane(stream, {0, size}, way)}, 3);
      CHECK_EQ(transfer.wrong_bytes(size), 0u);
    }
  }
}

TEST(a_part_of_a_payload_is_copied_and_nothing_else) {
  const PeerAccess access(0, 1);
  for (const bool kernel : {false, true}) {
    Transfer transfer(0, 1, capacity_bytes);
    transfer.reset(1000);
    Stream stream(0);
    const auto grid = kernel ? std::optional(tuned_grid(0, 1, "write")) : std::nullopt;
    time_lanes({transfer.lane(stream, {256, 744}, grid)}, 1);
    const std::uint64_t without_first = transfer.wrong_bytes(1000);
    CHECK(without_first > 200 && without_first <= 256);
    time_lanes({transfer.lane(stream, {0, 256}, grid)}, 1);
    CHECK_EQ(transfer.wrong_bytes(1000), 0u);
  }
}

TEST(a_grid_is_used_as_far_as_a_payload_has_work_for_it) {
  const auto fitted = [](KernelGrid grid, std::size_t size_bytes) {
    const KernelGrid fit = fitting_grid(grid, size_bytes);
    return std::vector<unsigned>{fit.blocks, fit.threads, fit.unroll};
  };
  using Shape = std::vector<unsigned>;
  const KernelGrid grid{264, 512, 8};
  CHECK(fitted(grid, 4) == (Shape{1, 32, 1}));
  CHECK(fitted(grid, 1024) == (Shape{1, 64, 1}));
  CHECK(fitted(grid, 64 << 10) == (Shape{8, 512, 1}));
  CHECK(fitted(grid, 1 << 20) == (Shape{128, 512, 1}));
  CHECK(fitted(grid, 264 * 512 * 16 * 2) == (Shape{264, 512, 2}));
  CHECK(fitted(grid, 264 * 512 * 16 * 8 - 16) == (Shape{264, 512, 4}));
  CHECK(fitted(grid, std::size_t{512} << 20) == (Shape{264, 512, 8}));
  CHECK(fitted(grid, std::size_t{512} << 30) == (Shape{264, 512, 8}));
}

TEST(every_thread_of_a_fitted_grid_but_those_of_the_last_block_has_work) {
  for (const KernelGrid grid : {KernelGrid{264, 512, 16}, KernelGrid{3, 96, 4}, KernelGrid{}}) {
    for (std::size_t size = 1; size < (std::size_t{1} << 32); size = size * 3 / 2 + 1) {
      const KernelGrid fit = fitting_grid(grid, size);
      CHECK(fit.blocks >= 1 && fit.threads >= 1 && fit.unroll >= 1);
      CHECK(fit.blocks <= grid.blocks && fit.threads <= grid.threads && fit.unroll <= grid.unroll);
      const std::size_t words = std::max<std::size_t>(size / 16, 1);
      CHECK((fit.blocks - 1) * std::size_t{fit.threads} * fit.unroll < words);
    }
  }
}

TEST(a_grid_is_read_as_it_is_written) {
  const KernelGrid grid = parse_kernel_grid("264x512x8");
  CHECK_EQ(grid.blocks, 264u);
  CHECK_EQ(grid.threads, 512u);
  CHECK_EQ(grid.unroll, 8u);
  for (const char* bad : {"", "264", "264x512", "0x512x8", "264x0x8", "264x100x8", "264x1024x8", "264x512x3",
                          "264x512x8x1", "-1x512x8", "264x512x8 ", "autox1x1"}) {
    const auto message = CHECK_THROWS(parse_kernel_grid(bad), UsageError);
    CHECK(message.find("BLOCKSxTHREADSxUNROLL") != std::string::npos);
  }
}

TEST(the_grid_found_best_is_one_of_the_candidates_and_found_once) {
  for (const char* operation : {"write", "read"}) {
    const KernelGrid best = tuned_grid(0, 1, operation), again = tuned_grid(0, 1, operation);
    CHECK_EQ(best.text(), again.text());
    bool known = false;
    for (const KernelGrid& candidate : candidate_grids(0))
      known = known || candidate.text() == best.text();
    CHECK(known);
  }
}

TEST(counters_count_every_addition_and_every_result) {
  const PeerAccess access(0, 1);
  for (const Addresses addresses : {Addresses::one, Addresses::neighbouring, Addresses::spread}) {
    for (const bool want_results : {false, true}) {
      Counters counters(0, 1, addresses, want_results);
      CHECK_EQ(counters.wrong(0), 0u);
      time_lanes({counters.lane()}, 3);
      CHECK_EQ(counters.wrong(3), 0u);
      CHECK(counters.wrong(2) > 0);
      CHECK(counters.wrong(4) > 0);
    }
  }
}

TEST(a_relay_forwards_every_payload_in_chunks_of_any_size) {
  check::need_devices(3, device_count());
  Transfer transfer(0, 1, capacity_bytes);
  const PeerAccess in(0, 2), out(2, 1);
  for (const std::size_t size : {1ul, 7ul, 4096ul, 100003ul, capacity_bytes}) {
    for (const std::size_t chunk : {1ul, 7ul, 1024ul, 65536ul, 99999ul, size}) {
      if (chunk > size || size / chunk > 20000) continue;
      const Buffer stage(Memory::device, 2, Relay::stage_bytes(size, chunk));
      transfer.reset(size);
      Relay relay(transfer, stage, size, chunk);
      time_lanes({relay.lane()}, 2);
      CHECK_EQ(transfer.wrong_bytes(size), 0u);
    }
  }
}

TEST(a_relay_passes_through_its_stage) {
  check::need_devices(3, device_count());
  const Transfer transfer(0, 1, capacity_bytes);
  const PeerAccess in(0, 2), out(2, 1);
  const Buffer stage(Memory::device, 2, 4 * 4096);
  Relay relay(transfer, stage, 8 * 4096, 4096);
  time_lanes({relay.lane()}, 1);
  const Buffer last_chunks = seen_by_host(transfer.source(4 * 4096), 4 * 4096);
  const Buffer staged = seen_by_host({&stage}, 4 * 4096);
  CHECK(std::equal(staged.as<std::byte>(), staged.as<std::byte>() + 4 * 4096, last_chunks.as<std::byte>()));
}

TEST(both_hops_of_a_relay_wait_at_the_gate) {
  check::need_devices(3, device_count());
  Transfer transfer(0, 1, capacity_bytes);
  const PeerAccess in(0, 2), out(2, 1);
  const Buffer stage(Memory::device, 2, 4 * 4096);
  fill_pattern(stage, 0, stage.size_bytes(), 0);
  transfer.reset(8 * 4096);
  Relay relay(transfer, stage, 8 * 4096, 4096);
  const Lane lane = relay.lane();
  // Made before the gate closes: allocation would wait for what is held there.
  const Buffer seen(Memory::pinned, 2, stage.size_bytes());
  Stream looking(2);
  Gate gate;
  gate.hold(*lane.stream);
  lane.enqueue(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  copy(looking, {&seen}, {&stage}, stage.size_bytes());
  looking.synchronize();
  gate.open();
  lane.stream->synchronize();
  CHECK_EQ(count_wrong_bytes(seen, 0, seen.size_bytes(), 0), 0u);
  CHECK_EQ(transfer.wrong_bytes(8 * 4096), 0u);
}

TEST(the_next_family_is_made_after_the_last_is_gone) {
  struct Counted {
    explicit Counted(int& alive) : alive(&alive) { ++alive; }
    Counted(Counted&& other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
    ~Counted() {
      if (alive) --*alive;
    }
    int* alive;
  };
  int alive = 0, made = 0;
  const auto make = [&] {
    CHECK_EQ(alive, 0);
    ++made;
    return Counted(alive);
  };
  auto workspace = Workspace::shared();
  CHECK_EQ(workspace, Workspace::shared());
  for (const char* family : {"a", "a", "b", "a"})
    workspace->of<Counted>(family, make);
  CHECK_EQ(made, 3);
  workspace.reset();
  CHECK_EQ(alive, 0);
}

TEST(a_family_that_could_not_be_made_is_made_anew) {
  auto workspace = Workspace::shared();
  CHECK_THROWS(workspace->of<int>("a", []() -> int { throw std::runtime_error("full"); }),
               std::runtime_error);
  CHECK_EQ(workspace->of<int>("a", [] { return 7; }), 7);
}

TEST(needs_beyond_half_of_the_memory_are_refused_with_numbers) {
  CHECK(!exceeds_memory({{Memory::device, 0, 1 << 20}, {Memory::pinned, 1, 1 << 20}}));
  const std::uint64_t pebibyte = std::uint64_t{1} << 50;
  const auto reason = exceeds_memory({{Memory::pageable, 0, pebibyte}});
  CHECK(reason && reason->find("1.05e+06 GiB") != std::string::npos);
  const auto needs = [](std::uint64_t size) { return std::vector<Need>{{Memory::device, 0, size}}; };
  CHECK_EQ(largest_fitting({4, pebibyte, 4096}, needs), 4096u);
  CHECK_EQ(largest_fitting({pebibyte}, needs), 0u);
}
