// Notices of predict and evaluate: emulated dtypes, outputs that aren't finite in float16.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/compiler/product_rates.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/environment.hpp"
#include "support/layers.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential chain(double gain) {
  const auto unit = [](const char* name) {
    return Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1), .name = name});
  };
  Sequential model({unit("first"), Scale({.initial = gain, .name = "gain"}), unit("head")});
  model.build({1, 1});
  model.compile({.optimizer = SGD(), .loss = "mse", .metrics = {"mae"}});
  return model;
}

Trainer quiet(const Precision& precision, bool eager = false) {
  return Trainer({.precision = precision, .enable_progress_bar = false, .eager = eager});
}

DataLoader samples(double x) { return DataLoader(pairs({1, x}, {0, 0}), {.batch_size = 1}); }

std::string notice(DType dtype) {
  const Support support = dtype_support(dtype);
  if (support == Support::native) return "";
  return std::string("[Trainer] ") + dtype_name(dtype) + " is " + (support == Support::absent ? "absent" : "emulated") +
         " on this CPU: its products are computed in float32, between casts\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_reports)

BOOST_AUTO_TEST_CASE(emulated_dtypes_are_told_of_once) {
  const Environment on("MEZZO_WARN_SLOW_POLICY", "1");
  for (const bool eager : {false, true}) {
    for (const DType dtype : {DType::bfloat16, DType::float16}) {
      Sequential predicted = chain(1), evaluated = chain(1);
      const Trainer trainer = quiet(dtype == DType::bfloat16 ? "bf16-mixed" : "16-mixed", eager);
      const CapturedOutput output;
      for (int i = 0; i < 2; ++i) {
        trainer.predict(predicted, samples(2));
        trainer.validate(predicted, samples(2));
      }
      BOOST_TEST(output.text() == notice(dtype));
      for (int i = 0; i < 2; ++i) trainer.test(evaluated, samples(2));
      BOOST_TEST(output.text() == notice(dtype) + notice(dtype));
    }
  }
  const CapturedOutput output;
  Sequential model = chain(1);
  quiet("32").predict(model, samples(2));
  const Environment off("MEZZO_WARN_SLOW_POLICY", "0");
  quiet("16-mixed").predict(model, samples(2));
  BOOST_TEST(output.text() == "");
}

// Products of int8 in float16 are those of float32 with widened operands.
BOOST_AUTO_TEST_CASE(emulated_products_of_int8_are_told_of) {
  const Environment on("MEZZO_WARN_SLOW_POLICY", "1");
  for (const char* policy : {"p=f32,c=f32,products=int8", "p=f32,c=f16,products=int8", "mixed_int8"}) {
    Sequential model({Dense({.units = 64}), Dense({.units = 64})}, {.dtype = policy});
    model.compile({.optimizer = SGD(), .loss = "mse"});
    const CapturedOutput output;
    model.fit(random_tensor({64, 64}), random_tensor({64, 64}), {.epochs = 1, .verbose = 0});
    const auto rows = model.run_state()->last_plan->rows();
    const bool emulated = std::none_of(rows.begin(), rows.end(), [](const detail::Plan::Row& row) {
      return row.kernel == "int8" || row.detail.find("float32 int8") == 0;
    });
    BOOST_TEST((output.text().find("products of int8 are emulated") != std::string::npos) == emulated, policy);
  }
}

// 1000 * 100 exceeds the largest float16, 65504.
BOOST_AUTO_TEST_CASE(outputs_that_are_not_finite_are_told_of_once_with_the_layer) {
  const std::string origin =
      " is not finite under float16: \"gain\" multiply gave the first value that is not finite (float16)\n";
  for (const bool eager : {false, true}) {
    BOOST_TEST_CONTEXT(eager) {
      Sequential model = chain(1000);
      const Trainer trainer = quiet("16-mixed", eager);
      const CapturedOutput output;
      const Tensor y = trainer.predict(model, samples(100));
      BOOST_TEST(y.to_doubles()[0] == 1000);
      const std::string of_predict = "mezzo: warning: [Trainer] predict: \"output\"" + origin;
      BOOST_TEST(output.text() == of_predict);
      trainer.predict(model, samples(100));
      BOOST_TEST(output.text() == of_predict);
      const Logs logs = trainer.validate(model, samples(100));
      const std::string of_evaluate = "mezzo: warning: [Trainer] evaluate: \"loss\"" + origin;
      BOOST_TEST(output.text() == of_predict + of_evaluate);
      BOOST_TEST(std::isinf(logs["mae"]));
    }
  }
}

// The search for the origin runs the kernels again, before the metrics change.
BOOST_AUTO_TEST_CASE(the_search_changes_no_number) {
  Sequential model = chain(1000);
  const CapturedOutput output;
  const DataLoader data(pairs({1, 100, 1}, {999, 0, 996}), {.batch_size = 1});
  const Tensor first = quiet("16-mixed").predict(model, data);
  BOOST_TEST(quiet("16-mixed").predict(model, data).equal(first));
  class Known : public Metric {
   public:
    Known() : Metric("known") { add_state(count_, {}); }
    Value result() const override { return count_; }

   protected:
    void update(const Value&, const Value&, const Value&) override { assign(count_, count_ + 1.0); }

   private:
    Variable count_{"count"};
  };
  model.compile({.optimizer = SGD(), .loss = "mse", .metrics = {Known()}});
  BOOST_TEST(quiet("16-mixed").validate(model, data)["known"] == 3);
}

BOOST_AUTO_TEST_CASE(other_dtypes_and_finite_outputs_are_not_told_of) {
  const CapturedOutput output;
  Sequential model = chain(1000);
  quiet("bf16-mixed").predict(model, samples(100));
  quiet("32").predict(model, samples(HUGE_VAL));
  quiet("16-mixed").predict(model, samples(2));
  quiet("16-mixed").validate(model, samples(2));
  BOOST_TEST(output.text() == "");
}

BOOST_AUTO_TEST_SUITE_END()
