#include <boost/test/unit_test.hpp>

#include <atomic>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/core/parallel.hpp>

#include "support/refused.hpp"
#include "support/throws.hpp"

BOOST_AUTO_TEST_SUITE(parallel)

BOOST_AUTO_TEST_CASE(ranges_cover_everything_once) {
  for (const std::int64_t count : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    mezzo::parallel_for(count, 3, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& times : seen) BOOST_TEST(times == 1);
  }
}

BOOST_AUTO_TEST_CASE(every_thread_is_called_once) {
  std::vector<std::atomic<int>> seen(4);
  mezzo::parallel_threads(4, [&](int thread, int) { ++seen[static_cast<std::size_t>(thread)]; });
  for (const auto& times : seen) BOOST_TEST(times == 1);
}

BOOST_AUTO_TEST_CASE(the_pool_has_a_cap) {
  const int before = mezzo::thread_count();
  mezzo::set_thread_count(1);
  BOOST_TEST(mezzo::thread_count() == 1);
  mezzo::set_thread_count(before);
  mezzo_tests::check_throws<mezzo::ValueError>("[set_thread_count] threads must be at least 1; got 0",
                                               [] { mezzo::set_thread_count(0); });
}

BOOST_AUTO_TEST_CASE(a_system_has_so_many_threads) {
  const std::string text = mezzo_tests::refused<mezzo::ValueError>([] { mezzo::set_thread_count(1000000); });
  BOOST_TEST(text.rfind("[set_thread_count] threads must be at most ", 0) == 0U);
  BOOST_TEST(text.find("; got 1000000") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
