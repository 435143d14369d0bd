#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>

#include <mezzo/compiler/memory.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/random.hpp>

#include "support/throws.hpp"

using namespace mezzo;

namespace {

// Pieces of random sizes, many of them of the same, and random lifetimes, some of which end where others begin.
std::vector<Lifetime> random_pieces(std::uint64_t seed) {
  const std::size_t count = 1 + philox(seed, 0)[0] % 60, steps = 1 + philox(seed, 0)[1] % 40;
  std::vector<Lifetime> pieces;
  for (std::uint64_t i = 1; i <= count; ++i) {
    const auto words = philox(seed, i);
    const std::size_t bytes = words[0] % 5 == 0 ? 256 * (words[1] % 4) : words[1] % 3000;
    const std::size_t first = words[2] % steps;
    pieces.push_back({bytes, first, std::min(steps - 1, first + words[3] % 8)});
  }
  // Pieces with a given place. One in two is live from the end of a run to the beginning of the next.
  std::size_t offset = 0;
  for (std::uint64_t i = 0; i < seed % 4; ++i) {
    const auto words = philox(seed, count + 1 + i);
    const std::size_t early = words[1] % steps, late = early + 1 + words[2] % steps;
    pieces.push_back({words[0] % 3000, i % 2 == 0 ? late : early, i % 2 == 0 ? early : late, offset});
    offset += (pieces.back().bytes + 63) / 64 * 64;
  }
  return pieces;
}

bool live_at(const Lifetime& piece, std::size_t step) {
  if (piece.first > piece.last) return step >= piece.first || step <= piece.last;
  return step >= piece.first && step <= piece.last;
}

bool meet_in_time(const Lifetime& a, const Lifetime& b) {
  for (std::size_t step = 0; step < 200; ++step) {
    if (live_at(a, step) && live_at(b, step)) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(pieces_that_live_together_never_overlap) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const std::vector<Lifetime> pieces = random_pieces(seed);
    const MemoryPlan plan = plan_memory(pieces);
    BOOST_TEST_REQUIRE(plan.offsets.size() == pieces.size());
    int overlaps = 0, misplaced = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::size_t end = plan.offsets[i] + pieces[i].bytes;
      misplaced += plan.offsets[i] % 64 != 0 || end > plan.bytes ? 1 : 0;
      misplaced += pieces[i].offset.value_or(plan.offsets[i]) != plan.offsets[i] ? 1 : 0;
      for (std::size_t k = 0; k < i; ++k) {
        const bool apart = end <= plan.offsets[k] || plan.offsets[k] + pieces[k].bytes <= plan.offsets[i];
        overlaps += meet_in_time(pieces[i], pieces[k]) && !apart ? 1 : 0;
      }
    }
    BOOST_TEST(overlaps == 0, "seed " << seed);
    BOOST_TEST(misplaced == 0, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(memory_is_used_again) {
  std::vector<Lifetime> chain;
  for (std::size_t i = 0; i < 100; ++i) chain.push_back({1000, i, i + 1});
  BOOST_TEST(plan_memory(chain).bytes == 2 * 1024U);
}

BOOST_AUTO_TEST_CASE(large_pieces_go_first) {
  const MemoryPlan plan = plan_memory({{64, 0, 0}, {640, 0, 9}, {64, 1, 9}, {128, 0, 9}});
  BOOST_TEST(plan.offsets == (std::vector<std::size_t>{768, 0, 768, 640}), boost::test_tools::per_element());
  BOOST_TEST(plan.bytes == 832U);
}

BOOST_AUTO_TEST_CASE(pieces_fill_the_gap_of_one_that_lives_across_runs) {
  const MemoryPlan plan = plan_memory({{128, 8, 2, 0}, {128, 3, 7}, {64, 7, 8}});
  BOOST_TEST(plan.offsets == (std::vector<std::size_t>{0, 0, 128}), boost::test_tools::per_element());
  BOOST_TEST(plan.bytes == 192U);
}

BOOST_AUTO_TEST_CASE(nothing_takes_nothing) {
  BOOST_TEST(plan_memory({}).bytes == 0U);
  BOOST_TEST(plan_memory({{0, 0, 5}, {0, 0, 5}}).bytes == 0U);
}

BOOST_AUTO_TEST_CASE(an_arena_grows_and_never_shrinks) {
  Arena arena;
  BOOST_TEST(arena.data() == nullptr);
  arena.reserve(100);
  BOOST_TEST(arena.bytes() >= 100U);
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(arena.data()) % 64 == 0U);
  unsigned char* const before = arena.data();
  before[99] = 7;
  arena.reserve(50);
  BOOST_TEST(arena.data() == before);
  BOOST_TEST(before[99] == 7);
  const std::size_t more = arena.bytes() + 1;
  arena.reserve(more);
  BOOST_TEST(arena.bytes() >= more);
  arena.data()[more - 1] = 9;
  BOOST_TEST(arena.data()[more - 1] == 9);
}

BOOST_AUTO_TEST_CASE(an_arena_larger_than_the_memory_is_an_error_and_changes_nothing) {
  Arena arena;
  arena.reserve(1);
  unsigned char* const data = arena.data();
  const std::size_t bytes = arena.bytes();
  data[0] = 7;
  mezzo_tests::check_throws<MemoryError>(
      "[Plan] the arena of a step needs 281474976710656 bytes (262144.0 GiB); the system has not that much memory",
      [&] { arena.reserve(std::size_t{1} << 48); });
  BOOST_TEST(arena.data() == data);
  BOOST_TEST(arena.bytes() == bytes);
  BOOST_TEST(data[0] == 7);
}

BOOST_AUTO_TEST_SUITE_END()
