#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/report_models.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::ramp;

namespace {

detail::ReportBatch batch() { return {ramp({8, 6}, 0.5, 2), Tensor({8, 3})}; }

// Computes values outside of its layer that overflow in float16.
class FragileRoot : public Model {
 public:
  FragileRoot() : Model("FragileRoot") {}

 protected:
  Value call(const Value& x) override { return gain_(log(exp(x * 10.0) + 1.0)); }

 private:
  mezzo_tests::Gain gain_ = sub("gain", mezzo_tests::Gain());
};

}  // namespace

BOOST_AUTO_TEST_SUITE(suggest_policy)

BOOST_AUTO_TEST_CASE(only_the_layer_that_cannot_bear_it_stays_in_float32) {
  const mezzo_tests::CapturedOutput output;
  Sequential model = mezzo_tests::fragile();
  const PolicySuggestion found =
      mezzo::suggest_policy(model, batch(), {.max_error = 0.01, .precision = "16-mixed", .steps = 2});
  BOOST_TEST(found.float32 == std::vector<std::string>{"softplus"}, boost::test_tools::per_element());
  BOOST_TEST(found.lowered.size() == 3U);
  BOOST_TEST(found.map.name() == "PolicyMap(\"softplus\": float32, default: mixed_float16)");
  BOOST_TEST(found.output_error > 0);
  BOOST_TEST(found.output_error <= 0.01);
  BOOST_TEST(found.gradient_error <= 0.01);
  BOOST_TEST(!std::isfinite(found.lowest_output_error));
  for (const double time : {found.time, found.lowest_time, found.float32_time}) {
    BOOST_TEST((time >= 0 && std::isfinite(time)));
  }
  const PrecisionReport report = mezzo::precision_report(model, batch(), {.precision = found.map, .steps = 0});
  BOOST_TEST(report.output_error == found.output_error);
  BOOST_TEST(report.gradient_error == found.gradient_error);
  BOOST_TEST(output.text() == "");

  const Dataset data = Dataset::from_tensors({{"x", ramp({8, 6}, 0.5, 2)}, {"y", Tensor({8, 3}), Role::target}});
  const History history = Trainer({.max_epochs = 20, .precision = found.map, .enable_progress_bar = false})
                              .fit(model, DataLoader(data, {.batch_size = 8}));
  BOOST_TEST(
      std::isfinite(history.history.at("loss").back()));  // the first steps are skipped until the loss scale fits
}

BOOST_AUTO_TEST_CASE(what_a_model_computes_outside_of_its_layers_can_stay_in_float32) {
  const mezzo_tests::CapturedOutput output;
  FragileRoot model;
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.build({2, 4});
  const Tensor x = ramp({2, 4}, 0.5, 2);
  const Tensor y({2, 4});
  const PolicySuggestion found = mezzo::suggest_policy(model, {x, y}, {.max_error = 0.01, .precision = 16});
  BOOST_TEST(found.float32 == std::vector<std::string>{""}, boost::test_tools::per_element());
  BOOST_TEST(found.map.name() == "PolicyMap(\"gain\": mixed_float16, default: float32)");
  BOOST_TEST(found.output_error > 0);
  BOOST_TEST(found.output_error <= 0.01);
}

BOOST_AUTO_TEST_CASE(a_loose_bound_lowers_everything) {
  const PolicySuggestion found = mezzo::suggest_policy(mezzo_tests::fragile(), batch(), {.max_error = 0.5, .steps = 0});
  BOOST_TEST(found.float32.empty());
  BOOST_TEST(found.map.name() == "PolicyMap(default: mixed_bfloat16)");
  BOOST_TEST(found.output_error == found.lowest_output_error);
  BOOST_TEST(found.time == 0);
}

BOOST_AUTO_TEST_CASE(a_tight_bound_keeps_all_and_has_no_error) {
  const PolicySuggestion found =
      mezzo::suggest_policy(mezzo_tests::fragile(), batch(), {.max_error = 1e-12, .steps = 0});
  BOOST_TEST(found.float32.size() == 4U);
  BOOST_TEST(found.lowered.empty());
  BOOST_TEST(found.output_error == 0);
  BOOST_TEST(found.gradient_error == 0);
}

BOOST_AUTO_TEST_CASE(a_bound_between_keeps_the_worst_ones) {
  const Sequential model = mezzo_tests::fragile();
  const PrecisionReport report = mezzo::precision_report(model, batch(), {.precision = "bf16", .steps = 0});
  const double bound = std::max(report.output_error, report.gradient_error) * 0.8;
  const PolicySuggestion found = mezzo::suggest_policy(model, batch(), {.max_error = bound, .steps = 0});
  BOOST_TEST(found.output_error <= bound);
  BOOST_TEST(found.gradient_error <= bound);
  BOOST_TEST_REQUIRE(!found.float32.empty());
  BOOST_TEST(found.float32.size() < 4U);
  for (std::size_t i = 0; i < found.float32.size(); ++i) BOOST_TEST(found.float32[i] == report.layers[i].path);
}

BOOST_AUTO_TEST_CASE(its_text_has_errors_and_times) {
  PolicySuggestion found;
  found.float32 = {"softplus", ""};
  found.lowered = {"stem"};
  found.max_error = 0.01;
  found.output_error = 0.001;
  found.gradient_error = 0.002;
  found.precision = "mixed_float16";
  found.lowest_output_error = INFINITY;
  found.lowest_gradient_error = NAN;
  found.time = 12.5;
  found.float32_time = 20;
  BOOST_TEST(found.text() == R"(Policy         Output error  Gradient error  us a step
------------------------------------------------------
float32                   0               0       20.0
suggested map      1.00e-03        2.00e-03       12.5
mixed_float16           inf             nan          -
max_error 0.01; in float32 stay 2 of 3 layers: softplus, (outside of layers)
)");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_suggested_is_told) {
  const Sequential model = mezzo_tests::fragile();
  for (const double bound : {0.0, -1.0}) {
    check_throws<ValueError>(
        "[suggest_policy] max_error must be greater than 0; got " + std::string(bound < 0 ? "-1" : "0"),
        [&] { mezzo::suggest_policy(model, batch(), {.max_error = bound}); });
  }
  check_throws<ValueError>("[suggest_policy] max_error must be greater than 0; got nan",
                           [&] { mezzo::suggest_policy(model, batch(), {.max_error = std::nan("")}); });
  check_throws<ValueError>("[suggest_policy] steps must be 0 or more; got -1",
                           [&] { mezzo::suggest_policy(model, batch(), {.steps = -1}); });
  check_throws<ValueError>("[suggest_policy] precision must be one policy, neither a map nor op lists; got none",
                           [&] { mezzo::suggest_policy(model, batch(), {.precision = Policy()}); });
  check_throws<ValueError>(
      "[suggest_policy] precision must be one policy, neither a map nor op lists; got PolicyMap(default: float32)",
      [&] { mezzo::suggest_policy(model, batch(), {.precision = PolicyMap({.default_policy = "float32"})}); });

  Sequential stubborn({Dense({.units = 3, .name = "low", .dtype = "mixed_bfloat16"}), Dense({.units = 3})});
  stubborn.compile({.optimizer = "sgd", .loss = "mse"});
  stubborn.build({8, 6});
  try {
    mezzo::suggest_policy(stubborn, batch(), {.max_error = 1e-9, .precision = 16});
    BOOST_ERROR("nothing was thrown");
  } catch (const ValueError& error) {
    const std::string text = error.what();
    BOOST_TEST(
        text.find("[suggest_policy] max_error must be at least the errors with every layer in float32 that has no "
                  "dtype of its own: output ") == 0U);
    BOOST_TEST(text.find("; got 1e-09") != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
