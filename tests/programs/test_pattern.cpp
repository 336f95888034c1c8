// Patterns: byte-exact filling at any place, and counting of exactly the bytes that differ.
#include "check.hpp"
#include "core/error.hpp"
#include "core/pattern.hpp"
#include "device_bytes.hpp"

using namespace weft;

namespace {

constexpr std::size_t capacity = 100000;
constexpr Memory kinds[] = {Memory::device, Memory::pinned, Memory::pageable};

/// Switches injected corruption off again, whatever a check throws.
struct Corruption {
  Corruption() { inject_corruption(true); }
  ~Corruption() { inject_corruption(false); }
};

}  // namespace

TEST(words_are_those_of_splitmix64) {
  CHECK_EQ(pattern_word(0, 0), 0xe220a8397b1dcdafull);
  CHECK_EQ(pattern_word(0, 1), 0x6e789e6aa1b965f4ull);
  CHECK_EQ(pattern_word(1234567, 0), 6457827717110365317ull);
}

TEST(a_fill_is_exact_to_the_byte) {
  for (Memory kind : kinds)
    for (std::size_t offset : {0, 1, 7, 8, 13, 4096})
      for (std::size_t size : {0, 1, 5, 8, 9, 16, 1023, 65537}) {
        const Buffer buffer(kind, 0, capacity);
        Bytes expected(capacity, 0xee);
        write(buffer, expected);
        fill_pattern(buffer, offset, size, 42);
        for (std::size_t i = 0; i < size; ++i)
          expected[offset + i] = static_cast<unsigned char>(pattern_word(42, i / 8) >> (8 * (i % 8)));
        CHECK(read_back(buffer) == expected);
        CHECK_EQ(count_wrong_bytes(buffer, offset, size, 42), 0u);
      }
}

TEST(every_wrong_byte_is_counted_and_no_other) {
  for (Memory kind : kinds)
    for (std::size_t offset : {0, 3}) {
      const Buffer buffer(kind, 0, capacity);
      const std::size_t size = 50001;
      fill_pattern(buffer, 0, capacity, 1);
      fill_pattern(buffer, offset, size, 2);
      Bytes bytes = read_back(buffer);
      const std::size_t positions[] = {0, 1, 7, 8, 4095, 4096, 33333, 49999, 50000};
      std::size_t wrong = 0;
      for (std::size_t position : positions) {
        bytes[offset + position] ^= 0x80;
        write(buffer, bytes);
        CHECK_EQ(count_wrong_bytes(buffer, offset, size, 2), ++wrong);
      }
    }
}

TEST(another_seed_or_another_place_is_almost_all_wrong) {
  const Buffer buffer(Memory::device, 0, capacity);
  fill_pattern(buffer, 0, capacity, 1);
  CHECK(count_wrong_bytes(buffer, 0, capacity, 2) > capacity * 99 / 100);
  CHECK(count_wrong_bytes(buffer, 8, capacity - 8, 1) > capacity * 98 / 100);
}

TEST(a_pattern_is_the_same_wherever_it_was_copied) {
  const Buffer source(Memory::device, 0, capacity), destination(Memory::device, device_count() - 1, capacity);
  fill_pattern(source, 5, 1000, 9);
  Stream stream(0);
  copy(stream, {&destination, 18}, {&source, 5}, 1000);
  stream.synchronize();
  CHECK_EQ(count_wrong_bytes(destination, 18, 1000, 9), 0u);
}

TEST(injected_corruption_is_found_once_a_check) {
  for (Memory kind : kinds)
    for (std::size_t size : {1, 4, 1000}) {
      const Buffer buffer(kind, 0, capacity);
      fill_pattern(buffer, 2, size, 3);
      {
        const Corruption corruption;
        CHECK(corruption_injected());
        CHECK_EQ(count_wrong_bytes(buffer, 2, size, 3), 1u);
      }
      CHECK(!corruption_injected());
      CHECK_EQ(count_wrong_bytes(buffer, 2, size, 3), 1u);
    }
}

TEST(a_range_beyond_the_buffer_is_refused) {
  const Buffer buffer(Memory::device, 0, 10);
  CHECK_THROWS(fill_pattern(buffer, 5, 6, 0), std::out_of_range);
  CHECK_THROWS(count_wrong_bytes(buffer, 11, 0, 0), std::out_of_range);
}
