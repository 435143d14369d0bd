#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <iterator>
#include <thread>

#include <mezzo/core/contention.hpp>
#include <mezzo/core/idle_team.hpp>
#include <mezzo/core/parallel.hpp>

#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo::detail;
using Level = ContentionLevels::Level;

namespace {

/// Notes measurements of 1/16 s in which every thread waited for that share of the time.
void note(ContentionLevels& levels, double share, int times, bool adapts = false, int threads = 2) {
  for (int i = 0; i < times; ++i) {
    levels.note({.seconds = 0.0625, .most_waiting = share, .mean_waiting = share}, threads, adapts);
  }
}

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator begin("/proc/self/task"), end;
  return std::distance(begin, end);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(contention)

BOOST_AUTO_TEST_CASE(threads_yield_while_other_programs_take_their_processors) {
  ContentionLevels levels;
  note(levels, 0.01, 100);
  BOOST_TEST((levels.level() == Level::alone));
  note(levels, 0.4, 1);
  note(levels, 0.01, 1);
  note(levels, 0.4, 1);
  BOOST_TEST((levels.level() == Level::alone));  // short tasks
  note(levels, 0.4, 1);
  BOOST_TEST((levels.level() == Level::yielding));
  note(levels, 0.4, 159);
  BOOST_TEST((levels.level() == Level::yielding));
  BOOST_TEST(levels.threads(2) == 2);
  note(levels, 0.4, 1);  // after 10 seconds the threads try to spin
  BOOST_TEST((levels.level() == Level::alone));
  note(levels, 0.4, 2);
  BOOST_TEST((levels.level() == Level::yielding));
  note(levels, 0.05, 7);
  BOOST_TEST((levels.level() == Level::yielding));
  note(levels, 0.05, 1);  // half a second
  BOOST_TEST((levels.level() == Level::alone));
}

BOOST_AUTO_TEST_CASE(each_failed_try_to_spin_again_doubles_the_time_to_the_next) {
  ContentionLevels levels;
  const auto measurements_until_alone = [&] {
    note(levels, 0.4, 2);
    int count = 0;
    for (; levels.level() != Level::alone; ++count) note(levels, 0.2, 1);
    return count;
  };
  const int first = measurements_until_alone();
  BOOST_TEST(measurements_until_alone() == 2 * first);
  for (int i = 0; i < 4; ++i) measurements_until_alone();
  BOOST_TEST(measurements_until_alone() == 64);  // 4 seconds
  note(levels, 0, 81);                           // more than 5 seconds alone
  BOOST_TEST(measurements_until_alone() == first);
}

BOOST_AUTO_TEST_CASE(adaptive_threads_leave_processors_to_others) {
  ContentionLevels levels;
  note(levels, 1.0 / 3, 3, true);  // one other on two processors
  BOOST_TEST((levels.level() == Level::reduced));
  BOOST_TEST(levels.threads(2) == 1);
  note(levels, 0, 7, true);
  BOOST_TEST((levels.level() == Level::reduced));  // one thread says nothing about the other processor
  note(levels, 0, 1, true);
  BOOST_TEST((levels.level() == Level::yielding));  // all threads are tried
  BOOST_TEST(levels.threads(2) == 2);
  note(levels, 1.0 / 3, 1, true);
  BOOST_TEST((levels.level() == Level::reduced));
  note(levels, 0, 1, false);
  BOOST_TEST((levels.level() == Level::yielding));  // the option was turned off

  ContentionLevels eight;
  note(eight, 1.0 / 3, 3, true, 8);  // four others on eight processors
  BOOST_TEST(eight.threads(8) == 4);
  ContentionLevels crowded;
  note(crowded, 0.9, 3, true, 8);
  BOOST_TEST(crowded.threads(8) == 1);
}

BOOST_AUTO_TEST_CASE(the_idle_team_exists_from_start_to_end) {
  if (waiting_is_chosen()) return mezzo_tests::skip("needs libgomp's default of waiting");
  const std::ptrdiff_t before = threads_of_process();
  const int threads = processors();
  BOOST_TEST(IdleTeam::start(threads));
  BOOST_TEST(IdleTeam::start(threads));
  BOOST_TEST(IdleTeam::running());
  BOOST_TEST(threads_of_process() == before + 2);
  IdleTeam::end();
  IdleTeam::end();
  BOOST_TEST(!IdleTeam::running());
  // libgomp does not wait for the second thread of the team.
  for (int i = 0; i < 10000 && threads_of_process() > before; ++i) std::this_thread::yield();
  BOOST_TEST(threads_of_process() <= before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
