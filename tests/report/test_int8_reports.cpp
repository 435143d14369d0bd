// precision_report and suggest_policy under products of int8.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

detail::ReportBatch batch() {
  return {random_tensor({16, 24}, DType::float32, 1), random_tensor({16, 3}, DType::float32, 2)};
}

Sequential model_of_three() {
  seed_everything(2);
  Sequential model({Dense({.units = 32, .activation = "relu", .name = "first"}), LayerNormalization({.name = "norm"}),
                    Dense({.units = 32, .name = "middle"}), Dense({.units = 3, .name = "last"})});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.build({16, 24});
  return model;
}

double int8_error(const PrecisionReport& report, const std::string& path) {
  for (const LayerPrecision& layer : report.layers) {
    if (layer.path == path) return layer.int8_error;
  }
  return -1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_reports)

BOOST_AUTO_TEST_CASE(a_report_has_the_difference_that_int8_makes) {
  const CapturedOutput output;
  const Sequential model = model_of_three();
  const PrecisionReport all = precision_report(model, batch(), {.precision = Policy("mixed_int8"), .steps = 0});
  for (const char* layer : {"first", "middle", "last"}) {
    BOOST_TEST(int8_error(all, layer) > 1e-3, layer);
    BOOST_TEST(int8_error(all, layer) < 0.05, layer);
  }
  BOOST_TEST(int8_error(all, "norm") == 0);
  BOOST_TEST(all.text().find("Int8") != std::string::npos);
  BOOST_TEST(nlohmann::json::parse(all.json())["layers"][0].contains("int8_error"));

  const PrecisionReport inside = precision_report(model, batch(), {.precision = "int8-mixed", .steps = 0});
  BOOST_TEST(int8_error(inside, "first") == 0);
  BOOST_TEST(int8_error(inside, "middle") > 1e-3);
  BOOST_TEST(int8_error(inside, "last") == 0);

  const PrecisionReport narrow = precision_report(model, batch(), {.precision = "bf16", .steps = 0});
  BOOST_TEST(int8_error(narrow, "middle") == 0);
  BOOST_TEST(narrow.text().find("Int8") == std::string::npos);
  BOOST_TEST(narrow.output_error < all.output_error);

  const PrecisionReport wide =
      precision_report(model, batch(), {.precision = Policy("p=f32,c=f32,products=int8"), .steps = 0});
  BOOST_TEST(int8_error(wide, "middle") > 1e-3);
  check_throws<ValueError>(
      "[precision_report] precision must name a policy; got \"auto-int8\", which only fit resolves",
      [&] { precision_report(model, batch(), {.precision = "auto-int8"}); });
}

BOOST_AUTO_TEST_CASE(a_suggestion_keeps_layers_in_16_bits) {
  const CapturedOutput output;
  const Sequential model = model_of_three();
  const PrecisionReport narrow = precision_report(model, batch(), {.precision = "bf16", .by_layer = false, .steps = 0});
  const PrecisionReport all =
      precision_report(model, batch(), {.precision = Policy("mixed_int8"), .by_layer = false, .steps = 0});
  const double of_narrow = std::max(narrow.output_error, narrow.gradient_error);
  const double of_all = std::max(all.output_error, all.gradient_error);
  BOOST_REQUIRE(of_narrow < of_all);
  const PolicySuggestion found = suggest_policy(
      model, batch(), {.max_error = (of_narrow + of_all) / 2, .precision = Policy("mixed_int8"), .steps = 0});
  BOOST_TEST(!found.without_int8.empty());
  BOOST_TEST(found.float32.empty());
  BOOST_TEST(found.map.name().find("mixed_bfloat16, ") != std::string::npos);
  BOOST_TEST(found.map.name().find("default: mixed_int8)") != std::string::npos);
  BOOST_TEST(found.text().find("without products of int8 stay ") != std::string::npos);
  const PolicySuggestion exact =
      suggest_policy(model, batch(), {.max_error = of_narrow / 50, .precision = Policy("mixed_int8"), .steps = 0});
  BOOST_TEST(exact.without_int8.empty());
  BOOST_TEST(!exact.float32.empty());
}

BOOST_AUTO_TEST_SUITE_END()
