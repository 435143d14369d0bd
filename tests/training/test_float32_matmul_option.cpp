// float32_matmul_precision of the process and of the Trainer.
#include <boost/test/unit_test.hpp>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/mezzo.hpp>

#include "support/skip.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Choice = std::optional<std::string>;

DataLoader loader() {
  return DataLoader(Dataset::from_tensors({{"x", random_tensor({512, 512})}}), {.batch_size = 512});
}

Sequential dense() {
  seed_everything(1);
  Sequential model({Dense({.units = 512})});
  model.build({512, 512});
  return model;
}

Tensor predicted(Module& model, const Choice& option, bool eager = false) {
  return Trainer({.enable_progress_bar = false, .eager = eager, .float32_matmul_precision = option})
      .predict(model, loader());
}

/// Name of the kernel of the product in the model's last plan.
std::string kernel_of(Module& model, const Choice& option) {
  predicted(model, option);
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) {
    if (row.op == "matmul") return row.kernel;
  }
  return "";
}

bool has_fast_medium() { return onednn_has_native_bfloat16() && !onednn_has_slow_bfloat16(); }

/// Sets the precision of the process for its lifetime.
struct OfProcess {
  explicit OfProcess(const std::string& precision) { set_float32_matmul_precision(precision); }
  ~OfProcess() { set_float32_matmul_precision("highest"); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(float32_matmul_option)

BOOST_AUTO_TEST_CASE(names) {
  BOOST_TEST(float32_matmul_precision() == "highest");
  {
    const OfProcess medium("medium");
    BOOST_TEST(float32_matmul_precision() == "medium");
  }
  const char* const error = "unknown float32_matmul_precision \"low\"; valid names: highest, high, medium";
  check_throws<NameError>(error, [] { set_float32_matmul_precision("low"); });
  check_throws<NameError>(error, [] { Trainer({.float32_matmul_precision = "low"}); });
}

BOOST_AUTO_TEST_CASE(each_choice_has_its_plan) {
  if (!has_fast_medium()) return skip("needs fast bfloat16");
  Sequential model = dense();
  BOOST_TEST(kernel_of(model, {}) != "bfloat16");
  BOOST_TEST(kernel_of(model, "medium") == "bfloat16");
  BOOST_TEST(kernel_of(model, {}) != "bfloat16");
  const OfProcess medium("medium");
  BOOST_TEST(kernel_of(model, {}) == "bfloat16");
  BOOST_TEST(kernel_of(model, "highest") != "bfloat16");
  model.predict(random_tensor({512, 512}), {.batch_size = 512});
  BOOST_TEST(model.explain().find("bfloat16:onednn") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(results_differ_by_the_rounding_and_eager_calls_follow) {
  if (!has_fast_medium()) return skip("needs fast bfloat16");
  Sequential model = dense();
  const Tensor exact = predicted(model, "highest"), medium = predicted(model, "medium");
  BOOST_TEST(!exact.equal(medium));
  BOOST_TEST(largest_difference(exact, medium) < 0.05);
  BOOST_TEST(predicted(model, "medium", true).equal(medium));
  BOOST_TEST(predicted(model, "highest", true).equal(exact));
  BOOST_TEST(predicted(model, {}).equal(exact));
  const OfProcess of_process("medium");
  const Tensor x = random_tensor({512, 512});
  const Value product = matmul(x, x);
  set_float32_matmul_precision("highest");
  BOOST_TEST(!matmul(x, x).tensor().equal(product.tensor()));
}

BOOST_AUTO_TEST_CASE(explain_shows_the_reason_where_it_has_no_effect) {
  Sequential model = dense();
  const char* const choice = onednn_has_native_bfloat16() && has_fast_medium() ? "high" : "medium";
  if (kernel_of(model, choice) == "bfloat16") return skip("this CPU has AMX");
  BOOST_TEST(model.explain({.declined = true}).find("float32_matmul_precision") != std::string::npos);
  BOOST_TEST(predicted(model, choice).equal(predicted(model, "highest")));
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_not_affected) {
  Sequential model = dense();
  const auto in = [&](const char* precision, const Choice& option) {
    return Trainer({.precision = precision, .enable_progress_bar = false, .float32_matmul_precision = option})
        .predict(model, loader());
  };
  BOOST_TEST(in("bf16", "medium").equal(in("bf16", "highest")));
  BOOST_TEST(in("16-mixed", "medium").equal(in("16-mixed", "highest")));
}

BOOST_AUTO_TEST_CASE(predictors_keep_the_setting_of_their_start) {
  if (!has_fast_medium()) return skip("needs fast bfloat16");
  Sequential model = dense();
  const Tensor x = random_tensor({512, 512});
  const Predictor exact(model);
  const Tensor before = exact(x);
  const OfProcess medium("medium");
  BOOST_TEST(exact(x).equal(before));
  BOOST_TEST(!Predictor(model)(x).equal(before));
}

BOOST_AUTO_TEST_SUITE_END()
