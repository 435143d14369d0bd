#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/graph/op_registry.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

// What the clock says isn't looked at, but for signs and sums.
using namespace mezzo;
using namespace mezzo_tests;

namespace {

detail::Plan doubling() {
  return planned(traced([](Trace& step) {
    const Value y = step.input("x", Spec{{1 << 16}, DType::float32}) * 2;
    step.output("y", y);
    step.gate(
        {.ok = insert_one(find_op("all_finite"), {y}), .on_failure = Graph::OnFailure::error, .error = "not finite"});
  }));
}

double sum_of_laps(const detail::Plan& plan) {
  double sum = 0;
  for (std::size_t i = 0; i < plan.rows().size() + detail::Plan::chores; ++i) sum += plan.profile().lap_time(i);
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(profile)

BOOST_AUTO_TEST_CASE(the_first_run_is_kept_apart) {
  detail::Plan plan = doubling();
  BOOST_TEST(plan.profile().runs() == 0);
  BOOST_TEST(plan.profile().first_run_time() == 0);
  const Tensor x({1 << 16});
  plan.run({x}, {});
  BOOST_TEST(plan.profile().runs() == 0);
  BOOST_TEST(plan.profile().first_run_time() > 0);
  BOOST_TEST(plan.profile().run_time() == 0);
  BOOST_TEST(sum_of_laps(plan) == 0);
}

BOOST_AUTO_TEST_CASE(laps_are_kernels_and_chores_and_add_up) {
  detail::Plan plan = doubling();
  const Tensor x({1 << 16});
  for (int i = 0; i < 5; ++i) plan.run({x}, {});
  BOOST_TEST(plan.profile().runs() == 4);
  BOOST_TEST(plan.rows().size() == 2U);
  BOOST_TEST(plan.profile().lap_time(0) > 0);
  BOOST_TEST(sum_of_laps(plan) == plan.profile().run_time(), boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_run_that_throws_is_not_counted) {
  detail::Plan plan = doubling();
  const Tensor x({1 << 16});
  Tensor bad = x.copy();
  bad.mutable_data<float>()[0] = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 3; ++i) plan.run({x}, {});
  const double before = sum_of_laps(plan);
  check_throws<ValueError>(
      "not finite: input \"x\" holds a value that is not finite (float32); no weight was changed by this step",
      [&] { plan.run({bad}, {}); });
  BOOST_TEST(plan.profile().runs() == 2);
  BOOST_TEST(sum_of_laps(plan) == before);
}

BOOST_AUTO_TEST_CASE(the_callers_time_stands_in_for_the_runs_where_it_is_known) {
  Profile profile(1);
  const auto run = [&] {
    profile.start();
    profile.lap(0);
    profile.finish();
  };
  run();
  profile.count_wall(std::chrono::seconds(100));  // of the first run
  run();
  BOOST_TEST(profile.wall_time() == profile.run_time());
  profile.count_wall(std::chrono::seconds(2));
  BOOST_TEST(profile.wall_time() == 2e9);
  run();
  profile.count_wall(std::chrono::seconds(4));
  BOOST_TEST(profile.wall_time() == 3e9);
}

BOOST_AUTO_TEST_SUITE_END()
