// The rules of torch's GradScaler, and what it lacks: a floor, a cap, checks.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/loss_scale.hpp>

#include "support/refused.hpp"

using mezzo::LossScale;
using mezzo::LossScaleOptions;
using mezzo::LossScaleState;
using mezzo::ValueError;
using mezzo_tests::refused;

namespace {

std::string refusal(const LossScaleOptions& options) {
  return refused<ValueError>([&] { const LossScale scale(options); });
}

bool equal(const LossScaleState& a, const LossScaleState& b) {
  return a.scale == b.scale && a.finite_steps == b.finite_steps && a.skipped == b.skipped;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_scale)

BOOST_AUTO_TEST_CASE(grows_after_an_interval_of_finite_steps) {
  LossScale scale({.initial_scale = 8, .growth_interval = 3});
  for (int i = 0; i < 2; ++i) BOOST_TEST(scale.update(true));
  BOOST_TEST(scale.scale() == 8);
  BOOST_TEST(scale.update(true));
  BOOST_TEST(scale.scale() == 16);
  for (int i = 0; i < 2; ++i) scale.update(true);
  BOOST_TEST(scale.scale() == 16);
}

BOOST_AUTO_TEST_CASE(backs_off_and_begins_to_count_anew) {
  LossScale scale({.initial_scale = 8, .growth_interval = 2});
  scale.update(true);
  BOOST_TEST(scale.update(false));
  BOOST_TEST(scale.scale() == 4);
  BOOST_TEST(scale.skipped() == 1);
  scale.update(true);
  BOOST_TEST(scale.scale() == 4);
  scale.update(true);
  BOOST_TEST(scale.scale() == 8);
}

BOOST_AUTO_TEST_CASE(grows_and_backs_off_by_the_factors_that_are_given) {
  LossScale scale({.initial_scale = 100, .growth_factor = 3, .backoff_factor = 0.1, .growth_interval = 1});
  scale.update(true);
  BOOST_TEST(scale.scale() == 300);
  scale.update(false);
  BOOST_TEST(scale.scale() == 30);
}

BOOST_AUTO_TEST_CASE(stays_between_floor_and_cap) {
  LossScale low({.initial_scale = 2, .floor = 1});
  BOOST_TEST(!low.at_floor());
  BOOST_TEST(low.update(false));
  BOOST_TEST(low.at_floor());
  BOOST_TEST(!low.update(false));
  BOOST_TEST(low.scale() == 1);
  LossScale high({.initial_scale = 2, .growth_interval = 1, .cap = 3});
  high.update(true);
  BOOST_TEST(high.scale() == 3);
}

// Keras' defect: without a floor 165 halvings reach 0, and then 0 / 0 is written to the weights.
BOOST_AUTO_TEST_CASE(halvings_without_end_do_not_reach_0) {
  LossScale scale;
  int accepted = 0;
  for (int i = 0; i < 165; ++i) accepted += scale.update(false) ? 1 : 0;
  BOOST_TEST(scale.scale() == 0x1p-16);
  BOOST_TEST(accepted == 32);
  BOOST_TEST(scale.skipped() == 165);
}

// GradScaler: 2^16, doubled after 2000 finite steps, halved by one that isn't.
BOOST_AUTO_TEST_CASE(begins_and_goes_on_as_torch_does) {
  LossScale scale;
  BOOST_TEST(scale.scale() == 65536);
  for (int i = 0; i < 1999; ++i) scale.update(true);
  BOOST_TEST(scale.scale() == 65536);
  scale.update(true);
  BOOST_TEST(scale.scale() == 131072);
  scale.update(false);
  BOOST_TEST(scale.scale() == 65536);
  BOOST_TEST(equal(LossScale(LossScaleOptions()).state(), LossScale().state()));
}

BOOST_AUTO_TEST_CASE(a_fixed_scale_never_changes_and_has_no_floor) {
  LossScale scale({.dynamic = false, .initial_scale = 0x1p-20});
  for (int i = 0; i < 3000; ++i) BOOST_TEST(scale.update(true));
  for (int i = 0; i < 3; ++i) BOOST_TEST(scale.update(false));
  BOOST_TEST(!scale.at_floor());
  BOOST_TEST(scale.scale() == 0x1p-20);
  BOOST_TEST(scale.skipped() == 3);
  BOOST_TEST(refusal({.dynamic = false, .initial_scale = 1e30}) == "");
}

BOOST_AUTO_TEST_CASE(goes_on_from_a_state_as_if_it_had_never_stopped) {
  const LossScaleOptions options{.initial_scale = 8, .growth_interval = 3};
  LossScale through(options);
  for (const bool finite : {false, true, true}) through.update(finite);
  BOOST_TEST(equal(through.state(), {4, 2, 1}));
  LossScale resumed(options);
  resumed.set_state(through.state());
  for (const bool finite : {true, true, false, true}) {
    through.update(finite);
    resumed.update(finite);
    BOOST_TEST(equal(through.state(), resumed.state()));
  }
  BOOST_TEST(equal(resumed.state(), {4, 1, 2}));
}

BOOST_AUTO_TEST_CASE(states_that_no_run_leaves_are_refused) {
  LossScale scale({.floor = 1, .cap = 65536});
  const auto set = [&](const LossScaleState& state) { return refused<ValueError>([&] { scale.set_state(state); }); };
  BOOST_TEST(set({0.5, 0, 0}) == "[LossScale] state: scale must be from 1 to 65536; got 0.5");
  BOOST_TEST(set({std::nan(""), 0, 0}) == "[LossScale] state: scale must be from 1 to 65536; got nan");
  BOOST_TEST(set({1, -1, 0}) == "[LossScale] state: finite_steps must be from 0 to 9007199254740992; got -1");
  BOOST_TEST(set({1, 0, -2}) == "[LossScale] state: skipped must be from 0 to 9007199254740992; got -2");
  // One more overflow would be one of the counter.
  BOOST_TEST(set({1, 0, std::numeric_limits<std::int64_t>::max()}) ==
             "[LossScale] state: skipped must be from 0 to 9007199254740992; got 9223372036854775807");
  BOOST_TEST(equal(scale.state(), {65536, 0, 0}));
  LossScale fixed({.dynamic = false, .initial_scale = 128});
  fixed.set_state({0x1p30, 7, 0});
  BOOST_TEST(fixed.scale() == 0x1p30);
  BOOST_TEST(refused<ValueError>([&] {
               fixed.set_state({0, 0, 0});
             }) == "[LossScale] state: scale must be from 1.1754943508222875e-38 to 1.7014118346046923e+38; got 0");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused_by_name) {
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  BOOST_TEST(refusal({.growth_factor = 1}) == "[LossScale] growth_factor must be finite and greater than 1; got 1");
  BOOST_TEST(refusal({.growth_factor = infinite}) ==
             "[LossScale] growth_factor must be finite and greater than 1; got inf");
  BOOST_TEST(refusal({.growth_factor = nan}) == "[LossScale] growth_factor must be finite and greater than 1; got nan");
  BOOST_TEST(refusal({.backoff_factor = 0}) == "[LossScale] backoff_factor must be between 0 and 1; got 0");
  BOOST_TEST(refusal({.backoff_factor = 1}) == "[LossScale] backoff_factor must be between 0 and 1; got 1");
  BOOST_TEST(refusal({.backoff_factor = nan}) == "[LossScale] backoff_factor must be between 0 and 1; got nan");
  BOOST_TEST(refusal({.growth_interval = 0}) == "[LossScale] growth_interval must be 1 or more; got 0");
  const std::string normal = " must be from 1.1754943508222875e-38 to 1.7014118346046923e+38; got ";  // float32's
  BOOST_TEST(refusal({.floor = 0}) == "[LossScale] floor" + normal + "0");
  BOOST_TEST(refusal({.floor = -1}) == "[LossScale] floor" + normal + "-1");
  BOOST_TEST(refusal({.floor = 1e-300}) == "[LossScale] floor" + normal + "1e-300");
  BOOST_TEST(refusal({.floor = 4, .cap = 2}) == "[LossScale] cap must be from 4 to 1.7014118346046923e+38; got 2");
  BOOST_TEST(refusal({.floor = 4, .cap = infinite}) ==
             "[LossScale] cap must be from 4 to 1.7014118346046923e+38; got inf");
  BOOST_TEST(refusal({.initial_scale = 1, .floor = 2, .cap = 4}) ==
             "[LossScale] initial_scale must be from 2 to 4; got 1");
  BOOST_TEST(refusal({.initial_scale = 8, .floor = 2, .cap = 4}) ==
             "[LossScale] initial_scale must be from 2 to 4; got 8");
  BOOST_TEST(refusal({.initial_scale = nan}) ==
             "[LossScale] initial_scale must be from 1.52587890625e-05 to 16777216; got nan");
  BOOST_TEST(refusal({.dynamic = false, .initial_scale = 0}) == "[LossScale] initial_scale" + normal + "0");
  BOOST_TEST(refusal({.initial_scale = 2, .floor = 2, .cap = 2}) == "");
}

BOOST_AUTO_TEST_CASE(a_fixed_scale_refuses_what_it_would_ignore) {
  const auto refused_for = [](const std::string& name, const std::string& given) {
    return "[LossScale] " + name + " must be left out for a fixed scale, which has initial_scale only; got " + given;
  };
  BOOST_TEST(refusal({.dynamic = false, .growth_factor = 4}) == refused_for("growth_factor", "4"));
  BOOST_TEST(refusal({.dynamic = false, .backoff_factor = 0.25}) == refused_for("backoff_factor", "0.25"));
  BOOST_TEST(refusal({.dynamic = false, .growth_interval = 10}) == refused_for("growth_interval", "10"));
  BOOST_TEST(refusal({.dynamic = false, .floor = 1}) == refused_for("floor", "1"));
  BOOST_TEST(refusal({.dynamic = false, .cap = 1e6}) == refused_for("cap", "1000000"));
}

BOOST_AUTO_TEST_SUITE_END()
